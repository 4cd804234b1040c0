"""How choices are read: by the model or another reader that is asked, and by words where letters are unlikely."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from fake_endpoint import Endpoint, serving
from made_up_reader import read_made_up
from newest_run import asking, newest, results_of, setting, summary_of, write_rows

from contrapose.flows.cli import main
from contrapose.flows.run_context import resolve_run
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.store import Store

ASKED_BACK = "Which one does this reply choose?"
READ = "Summary A is more consistent with the article, because it repeats what was written there."
UNREAD = "Wherever the facts of the article stand, that is the one which I would rather have."
QUESTIONS = 36
"""Of twelve samples: two orders, and a control."""
CALL = {"prompt_tokens": 10, "completion_tokens": 2}
"""What every call of an endpoint takes."""
pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")


def spoken(prompt: str) -> str:
    """The model under test: readable words to about every second prompt, unreadable ones to the others."""
    assert ASKED_BACK not in prompt
    return (READ, UNREAD)[crc32(prompt.encode()) % 2]


class House:
    """A model and a reader, each behind an endpoint of its own."""

    def __init__(self, model: Endpoint, reader: Endpoint) -> None:
        self.model, self.reader = model, reader

    def arguments(self, *options: str) -> list[str]:
        urls = {"model_args": self.model.port, "reader_args": self.reader.port}
        named = {f"{name}.base_url": f"http://127.0.0.1:{port}/v1" for name, port in urls.items()}
        values = {"reader": "openai/judge", "model_args.retries": 0, "noise": 0, **named}
        given = setting(*(f"{name}={value}" for name, value in values.items()))
        return ["--suite", "full", "--test", "order_bias", "--limit", "12", "--model", "openai/any", *given, *options]

    def run(self, *options: str) -> tuple[dict[str, Any], Path]:
        """The summary and the folder of a run."""
        main(["run", *self.arguments("--out", "out", *options)])
        return summary_of(), newest()

    @property
    def asked(self) -> tuple[int, int]:
        """Requests to the model and to the reader."""
        return len(self.model.requests), len(self.reader.requests)


def served(body: Callable[[House], None], says: Callable[[str], str] = lambda _: "A", **model: Any) -> None:
    """Do something with a model and a reader that says this when it is asked back, and reads made-up replies."""

    def reads(prompt: str) -> str:
        return read_made_up(prompt) or says(prompt)

    with serving(Endpoint(says=spoken, **model)) as under_test, serving(Endpoint(says=reads)) as reader:
        body(House(under_test, reader))


def priced(model: tuple[float, float], reader: tuple[float, float]) -> list[str]:
    named = {"price": model, "reader_price": reader}
    pairs = {f"{name}.{side}": cost for name, both in named.items() for side, cost in zip(("input", "output"), both)}  # noqa: B905
    return setting(*(f"{name}={cost}" for name, cost in pairs.items()))


def test_the_reader_is_asked_and_named_and_paid_once() -> None:
    def body(house: House) -> None:
        found, folder = house.run("--set", "system_instruction=Be brief.", "--set", "gen_kwargs.max_new_tokens=40")
        to_model, to_reader = house.asked
        assert (to_model, to_reader > 0) == (QUESTIONS, True)
        assert all(ASKED_BACK in each.prompt for each in house.reader.requests)
        assert all(body["messages"][0]["role"] == "system" for body in house.model.bodies)  # type: ignore[index]
        bodies = [(len(body["messages"]), body["temperature"]) for body in house.reader.bodies]  # type: ignore[arg-type]
        assert set(bodies) == {(1, 0)}
        assert {body["model"] for body in house.reader.bodies} == {"judge"}
        assert found["model"]["id"] == "openai/any"
        assert found["reader"]["id"] == "openai/judge"
        assert found["usage"]["calls"] == to_model + to_reader
        assert found["usage"]["reader"]["calls"] == found["usage"]["reader"]["requests"] == to_reader
        assert found["usage"]["reader"]["prompt_tokens"] == to_reader * CALL["prompt_tokens"]
        (test,) = found["tests"]
        assert test["figures"]["AA"] == 12
        assert test["estimates"]["asked_agreement"]["value"] == 1
        manifest = json.loads((folder / "manifest.json").read_text())
        assert manifest["reader"]["model"] == "judge"
        for name in ("report.html", "report.md"):
            assert "openai/judge" in (folder / name).read_text()
        again, _ = house.run("--set", "system_instruction=Be brief.", "--set", "gen_kwargs.max_new_tokens=40")
        assert house.asked == (to_model, to_reader)
        assert again["tests"] == found["tests"]
        assert again["usage"]["reader"]["calls"] == 0
        other, _ = house.run("--set", "gen_kwargs.max_new_tokens=41")
        # Other replies of the model are the same words here, and the reader's answers do not hang on its settings.
        assert house.asked == (2 * to_model, to_reader)
        assert other["usage"]["reader"]["calls"] == 0

    served(body)


@pytest.mark.slow
def test_a_model_of_another_provider_is_asked_and_found_out_where_it_always_says_a() -> None:
    def body(house: House) -> None:
        chosen = ["--suite", "full", "--test", "order_bias", "--limit", "12", "--reader", "mock", "--out", "out"]
        main(["run", *chosen, *asking(house.model.port, "reader_args.reply=A")])
        found = summary_of()
        assert found["reader"]["id"] == "mock"
        assert found["tests"][0]["figures"].get("read_by_asked") is None
        assert any(
            "made-up replies, which choose a wrong option or none, mock read" in one for one in found["warnings"]
        )
        assert house.asked == (QUESTIONS, 0)

    served(body)


@pytest.mark.parametrize(("limit", "most"), [("max_calls", 39), ("max_tokens", 1000)])
def test_limits_count_what_both_take(limit: str, most: int) -> None:
    def body(house: House) -> None:
        found, _ = house.run("--set", f"{limit}={most}")
        calls, tokens = sum(house.asked), sum(house.asked) * sum(CALL.values())
        assert {"max_calls": calls, "max_tokens": tokens}[limit] <= most
        assert found["usage"]["requests"] == calls
        if limit == "max_calls":
            assert house.asked == (QUESTIONS, 3)
        assert any(f"{limit} = {most}" in each for each in found["warnings"])

    served(body)


@pytest.mark.slow
def test_the_cost_is_that_of_both_at_their_own_prices() -> None:
    def body(house: House) -> None:
        found, folder = house.run(*priced((1, 10), (100, 1000)))
        to_model, to_reader = house.asked
        own, readers = to_model * 30 / 1e6, to_reader * 3000 / 1e6
        assert found["usage"]["cost"] == pytest.approx(own + readers)
        assert found["usage"]["reader"]["cost"] == pytest.approx(readers)
        manifest = json.loads((folder / "manifest.json").read_text())
        assert manifest["reader_price"]["input"] == 100
        report = (folder / "report.md").read_text()
        assert f"{to_reader} of them to openai/judge" in report

    served(body)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--set", "reader=nobody/judge"], "reader: unknown provider 'nobody'"),
        (["--set", "reader_args.nope=1"], "reader_args"),
        (["--set", "reader_args.api_key_env=MY_KEY"], "reader_args.api_key_env"),
        (["--max-cost", "1", "--set", "price.input=1", "--set", "price.output=1"], "reader_price"),
        (["--set", "reader_args.api_key=x"], "reader_args.api_key looks like a secret"),
        (["--set", "reader="], "reader_args"),
    ],
)
def test_what_is_wrong_with_a_reader_costs_nothing(
    options: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def body(house: House) -> None:
        assert main(["run", *house.arguments(*options)]) == 2
        assert told in capsys.readouterr().err
        assert house.asked == (0, 0)

    served(body)


def test_a_readers_key_goes_to_no_host_that_is_not_named_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-quartz")
    asks = {"factuality": {"order_bias": {"read_with": "ask"}}}
    args = {"base_url": "https://elsewhere.example/v1"}
    given = {"model": "mock", "reader": "openai/x", "reader_args": args, "tests": asks}
    with pytest.raises(ContraposeError, match=r"reader_args\.") as refused:
        resolve_run(RunConfig.model_validate(given))
    assert "elsewhere.example" in str(refused.value)
    assert "quartz" not in str(refused.value)


@pytest.mark.slow
def test_a_resumed_run_counts_what_both_have_spent() -> None:
    """The model fails once, so that the run is incomplete when the reader has been paid."""

    def body(house: House) -> None:
        found, _ = house.run(*priced((1, 10), (100, 1000)))
        before = house.asked
        assert (found["verdict"], before[0]) == ("incomplete", QUESTIONS)
        (row,) = Store().runs.find_unfinished()
        limit = sum(before) + 1
        main(["resume", row.id, "--max-calls", str(limit)])
        resumed = summary_of()
        assert house.asked == (QUESTIONS + 1, before[1])
        assert resumed["usage"]["requests"] == limit
        assert resumed["usage"]["cost"] == pytest.approx((QUESTIONS * 30 + before[1] * 3000) / 1e6)
        assert resumed["usage"]["reader"]["cost"] == pytest.approx(before[1] * 3000 / 1e6)

    served(body, faults={0: "status 500"})


@pytest.mark.slow
def test_a_reader_whom_nobody_asks_is_told_and_not_looked_for(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ["--suite", "quickstart", "--test", "order_bias", "--limit", "2", "--model", "mock", "--out", "out"]
    main(["run", *chosen, "--set", "reader=openai/judge"])
    found = summary_of()
    assert any(each.startswith("reader: openai/judge is not used") for each in found["warnings"])
    assert "reader" not in found
    assert "openai/judge is not used" in " ".join(capsys.readouterr().out.split())


def test_estimate_prices_what_may_be_asked_back_at_the_readers_price(capsys: pytest.CaptureFixture[str]) -> None:
    def body(house: House) -> None:
        def told(*options: str) -> Any:
            assert main(["estimate", *house.arguments(*options), "--json"]) == 0
            return json.loads(capsys.readouterr().out)["asked_back_at_most"]

        found = told(*priced((0, 0), (1, 10)))
        made_up = 12
        assert (found["total"], found["model"]) == (QUESTIONS + made_up, "openai/judge")
        # At least the letters, at most a long prompt and as long an answer as it may give.
        assert QUESTIONS * 10 * 32 / 1e6 < found["cost"] < QUESTIONS * (10 * 32 + 2000) / 1e6
        assert told(*priced((0, 0), (10, 100)))["cost"] == pytest.approx(10 * found["cost"])
        assert told()["cost"] is None
        assert main(["estimate", *house.arguments(*priced((0, 0), (1, 10)))]) == 0
        assert "Contrapose asks openai/judge which option" in " ".join(capsys.readouterr().out.split())
        assert house.asked == (0, 0)

    served(body)


def judge(back: Callable[[str], str]) -> Callable[[str], str]:
    """Says A, in readable words to about every second prompt, else in unreadable ones, and reads itself by `back`.

    It reads made-up replies as what they say.
    """

    def says(prompt: str) -> str:
        if ASKED_BACK in prompt:
            return read_made_up(prompt) or back(prompt)
        return (READ, UNREAD)[crc32(prompt.encode()) % 2]

    return says


def run(endpoint: Endpoint, *, times: int = 1) -> list[dict[str, Any]]:
    """The summary of each of so many runs, one after the other."""
    with serving(endpoint) as served:
        chosen = ["--suite", "full", "--test", "order_bias", "--limit", "12", *asking(served.port)]
        for number in range(times):
            main(["run", *chosen, "--out", f"out/{number}"])
    return [summary_of(f"out/{number}") for number in range(times)]


def backs(endpoint: Endpoint) -> list[str]:
    return [each.prompt for each in endpoint.requests if ASKED_BACK in each.prompt]


def doubts(summary: dict[str, Any]) -> list[str]:
    return [warning for warning in summary["warnings"] if "the reader model decided" in warning]


def test_replies_that_rules_read_are_asked_about_too_and_paid_for_once() -> None:
    endpoint = Endpoint(says=judge(lambda _: "A"))
    before, after = run(endpoint, times=2)
    asked = backs(endpoint)
    unread, read = (sum(reply in prompt for prompt in asked) for reply in (UNREAD, READ))
    made_up = sum(read_made_up(prompt) is not None for prompt in asked)
    assert unread + read + made_up == len(asked)
    assert 0 < read <= unread
    assert 0 < made_up <= unread
    (test,) = before["tests"]
    agreed = test["estimates"]["asked_agreement"]
    assert (agreed["value"], doubts(before)) == (1, [])
    assert 0 < agreed["rows"] <= read
    counts = {"rows": made_up, "clusters": made_up, "among": "made-up replies"}
    assert test["estimates"]["made_up_agreement"] | {"interval": None} == {"value": 1, "interval": None, **counts}
    assert test["figures"]["read_by_asked"] + test["figures"]["read_by_pattern"] == 1
    assert after["usage"]["calls"] == 0
    assert len(endpoint.requests) == before["usage"]["calls"]
    assert after["tests"] == before["tests"]


def test_a_model_that_reads_badly_is_asked_nothing_more_and_overrules_no_rule() -> None:
    endpoint = Endpoint(says=judge(lambda prompt: "B" if READ in prompt else "A"))
    (summary,) = run(endpoint)
    asked, (test,) = backs(endpoint), summary["tests"]
    assert sum(READ in prompt for prompt in asked) > 0
    assert not any(UNREAD in prompt for prompt in asked)
    (warning,) = [each for each in summary["warnings"] if "stay so" in each]
    assert "replies that rules could read, the model read 0 as they do; at least 95 %" in warning
    figures = test["figures"]
    assert figures["unread"] > 0
    assert "read_by_asked" not in figures
    assert (figures["AB"], figures["BB"], figures["BA"]) == (0, 0, 0)
    assert test["estimates"]["asked_agreement"]["value"] == 0
    assert doubts(summary) == []


DAMS = 36
RIGHT, WRONG = "The dam was built in 19{:02}.", "The dam was torn down in 18{:02}."


def thinks(prompt: str) -> str:
    """A thought, and then the letter of the right sentence."""
    options = prompt[prompt.index("A:") :]
    letter = "A" if options.index("was built in") < options.index("torn down") else "B"
    return f"<think>\nIs it B, or is it A?\n</think>\n\nThe answer is {letter}."


def unsaid(first: str) -> Callable[[str], dict[str, float]]:
    """First tokens of a model that begins in another way, and of whose letters A is likelier in any order."""
    return lambda prompt: {first: -1e-6, "The": -12.0, "A": -13.0, "B": -19.0}


def data() -> None:
    rows = (
        {
            "id": str(number),
            "article_sentence": f"In 19{number:02} the people of the valley built a dam, {number} metres high.",
            "correct_sentence": RIGHT.format(number),
            "incorrect_sentence": WRONG.format(number),
        }
        for number in range(DAMS)
    )
    write_rows("pairs.jsonl", rows)


def run_letters(endpoint: Endpoint, out: str) -> tuple[dict[str, Any], Any]:
    """Summary and results of a run on the pairs."""
    chosen = ["--data", "pairs.jsonl", "--test", "order_bias", "--out", out, "--exit-zero"]
    main(["run", *chosen, *asking(endpoint.port, "model_args.logprobs=true")])
    return summary_of(out), results_of(out)


@pytest.mark.parametrize("first", ["So", "<think>"])
def test_what_the_model_says_decides_where_it_would_say_no_letter(first: str) -> None:
    data()
    with serving(Endpoint(says=thinks, lists=unsaid(first))) as endpoint:
        summary, results = run_letters(endpoint, "first")
    assert len(endpoint.requests) == summary["usage"]["calls"]
    (test,) = summary["tests"]
    assert (test["verdict"], test["figures"]["AB"], test["figures"]["read_instead"]) == ("pass", DAMS, DAMS)
    assert 0 < test["figures"]["label_mass_least"] <= test["figures"]["label_mass_median"] < 1e-5
    assert set(results["result_step"]) == set(results["swapped_step"]) == {"pattern"}
    assert set(results["scorer"]) == {"reply"}
    assert (results["expected_label_mass"] < 1e-5).all()
    assert "likelihood" not in test["scorers"]

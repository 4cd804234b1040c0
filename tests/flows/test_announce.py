"""`contrapose announce`: what is wrong with an announcement is said in one line."""

from __future__ import annotations

import pytest

from contrapose.flows.cli import main


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["hf/team/model"], "revision: neither"),
        (["", "--revision", "v2"], "model: nothing"),
        (["hf/team/model", "--revision", "v2"], "PREFECT_API_URL: no Prefect server is named"),
    ],
)
def test_what_cannot_be_announced_ends_in_one_line(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from prefect.settings import PREFECT_API_URL, temporary_settings

    with temporary_settings(restore_defaults={PREFECT_API_URL}):
        assert main(["announce", *arguments]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"contrapose: {told}")
    assert len(err.splitlines()) == 1


def test_a_server_that_does_not_answer_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    from prefect.settings import PREFECT_API_URL, temporary_settings

    with temporary_settings({PREFECT_API_URL: "http://user:s3cret@127.0.0.1:1/api"}):
        assert main(["announce", "hf/team/model", "--revision", "v2"]) == 2
    told = capsys.readouterr().err
    assert "http://127.0.0.1:1/api: the Prefect server did not take the event" in told
    assert "s3cret" not in told

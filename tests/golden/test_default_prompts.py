"""The prompts of every probe for every bundled sample, and the keys of their answers, are those before templates.

Those of judge_order, judge_cues and item_order, which came later, are those they had at first.

A prompt that differs by a byte, or a key that does, would ask anew what people have paid for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

import pytest

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.config.model_spec import Generation, ModelSpec
from contrapose.tasks.core.records import Likelihoods
from contrapose.tasks.core.registry import names, probe
from contrapose.tasks.infer.ask import list_questions
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.load.samples import load_samples
from contrapose.tasks.probes.base import make_sample_rng

TABLE = """
add_negation    negation        408  0556fb8e39ac9933  709668b19878704e
add_negation    toxic_words     150  d6113e1163c73ea7  d6113e1163c73ea7
add_toxic_words negation        410  3cf2602b695b0719  3cf2602b695b0719
add_toxic_words toxic_words     192  d192876afdb8bf3e  d192876afdb8bf3e
order_bias      summary_pairs   352  87f19fca6c1dc0b5  813c2465b6a0c65c
order_bias      judge_pairs     448  047e49ed621c2199  a408bdc66c99c002
option_order    negation        664  92daee64c89987c1  bdfda9e51154c7e9
option_order    toxic_words      96  5eddbaa7a2fc2be0  5eddbaa7a2fc2be0
antonym         negation        212  3269f1beed0fabc2  35d52cd40f04a34a
antonym         toxic_words      98  0a03cb26c8a461a0  0a03cb26c8a461a0
change_number   negation        229  6145c81579ac5c73  1f2217f313e2bfae
change_number   toxic_words     100  8fc6fa07df6a76ed  8fc6fa07df6a76ed
typo            negation        393  74a12d1df6f35b03  441b8fd88e48eb75
typo            toxic_words     192  3af82340304a3d36  3af82340304a3d36
casing          negation        410  b0b3da6214d78282  0e3953a19b2ddefe
casing          toxic_words     192  882f5d847d4ea712  882f5d847d4ea712
spacing         negation        410  1a488f568d6b511e  4b4d085ea27c0e5c
spacing         toxic_words     192  227595ffd93dedf0  227595ffd93dedf0
contractions    stories          66  1dc580649bdfe31d  9e773e34ff2c4cac
contractions    toxic_words     100  474b206dcb41e8cf  474b206dcb41e8cf
abbreviations   stories          86  415558ae107e0a62  61f7228a1f339494
abbreviations   toxic_words     152  ef27158e361cdd37  ef27158e361cdd37
ocr_slips       stories          95  3551b80254b370cd  881435b8e3e7339d
ocr_slips       toxic_words     188  6f4bed179cf7df86  6f4bed179cf7df86
spelling        stories          58  e827dc25ea1c1e1d  d8e1154ef22f1d74
spelling        toxic_words     107  a203ecf60b21f075  a203ecf60b21f075
context         stories          96  6f35039f07a6f2a9  1096b9ced850cef0
context         toxic_words     187  e1ba3ea0a2164436  e1ba3ea0a2164436
names           stories          80  a16516fb16462f25  74f1f45c4adea24a
names           toxic_words     100  efebe1166734d490  efebe1166734d490
gender          stories          73  6d174c87a8e14377  803bf46cb5944fda
gender          toxic_words     101  5bbd876b40c46ff0  5bbd876b40c46ff0
countries       stories          63  755f18d98a98f129  081203d41a3c059a
countries       toxic_words      96  73253a5e5c8a3791  73253a5e5c8a3791
swap_roles      negation        205  687cd73d3a8da60d  687cd73d3a8da60d
swap_roles      toxic_words      96  ef1a4502fc634d25  ef1a4502fc634d25
judge_order     judge_pairs     448  abfb630a1168c5c3  836796ceaf23f2be
judge_cues      judge_pairs    1728  8f5aa7725e0a0548  95e03d4ee71a6cc3
item_order      item_lists      359  af90ac2a73fd142d  59561c2cd6611ac7
tool_order      tool_calls       96  7e3e2b8f4fc865d5  7e3e2b8f4fc865d5
tool_names      tool_calls       96  54105a18c6a27998  54105a18c6a27998
"""
"""Probe, samples, cases with their controls, and a digest of their prompts: without likelihoods, and with all."""
CELLS = [tuple(line.split()) for line in TABLE.strip().splitlines()]
RECORDED: dict[tuple[str, str, Likelihoods], tuple[int, str]] = {
    (test, source, likelihoods): (int(count), digest)
    for test, source, count, *digests in CELLS
    for likelihoods, digest in zip(("none", "all"), digests, strict=True)
}
KEYS = Keys(
    ModelSpec(id="openai/x", generation=Generation(max_new_tokens=48), system_instruction="Be brief."),
    {"revision": "1", "dtype": "", "device": ""},
)


def prompts(test: str, source: str, likelihoods: Likelihoods) -> Iterator[object]:
    """What is asked of every sample, under which keys."""
    chosen = probe(test)
    settings = chosen.settings_type()
    for sample in load_samples(DataSettings(source=source), chosen.sample_type, limit=None, seed=0).samples:
        cases = [*chosen.cases(sample, settings, rng=make_sample_rng(0, sample.id, test), likelihoods=likelihoods)]
        if cases[0].skip_reason is None:
            cases.append(chosen.control(cases[0], sample, settings, rng=make_sample_rng(1, sample.id, test)))
        for case in filter(None, cases):
            questions = (
                []
                if case.skip_reason
                else list_questions([case], form="json_schema" if likelihoods == "none" else "plain")
            )
            yield [
                case.id,
                case.original_prompt,
                case.perturbed_prompt,
                [KEYS.make_key(question) for question in questions],
            ]


@pytest.mark.parametrize("name", RECORDED)
def test_prompts_and_keys_are_as_before(name: tuple[str, str, Likelihoods]) -> None:
    found = [json.dumps(case) for case in prompts(*name)]
    assert (len(found), hashlib.sha256("\n".join(found).encode()).hexdigest()[:16]) == RECORDED[name]


def test_every_probe_is_recorded() -> None:
    assert set(names("probes")) <= {test for test, _, _ in RECORDED}

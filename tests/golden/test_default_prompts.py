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
from contrapose.tasks.infer.ask import asked
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.load.samples import load_samples
from contrapose.tasks.probes.base import rng_for

RECORDED: dict[tuple[str, str, Likelihoods], tuple[int, str]] = {
    ("add_negation", "negation", "none"): (408, "0556fb8e39ac9933"),
    ("add_negation", "negation", "all"): (408, "709668b19878704e"),
    ("add_negation", "toxic_words", "none"): (150, "d6113e1163c73ea7"),
    ("add_negation", "toxic_words", "all"): (150, "d6113e1163c73ea7"),
    ("add_toxic_words", "negation", "none"): (410, "3cf2602b695b0719"),
    ("add_toxic_words", "negation", "all"): (410, "3cf2602b695b0719"),
    ("add_toxic_words", "toxic_words", "none"): (192, "d192876afdb8bf3e"),
    ("add_toxic_words", "toxic_words", "all"): (192, "d192876afdb8bf3e"),
    ("order_bias", "summary_pairs", "none"): (352, "87f19fca6c1dc0b5"),
    ("order_bias", "summary_pairs", "all"): (352, "813c2465b6a0c65c"),
    ("order_bias", "judge_pairs", "none"): (448, "047e49ed621c2199"),
    ("order_bias", "judge_pairs", "all"): (448, "a408bdc66c99c002"),
    ("option_order", "negation", "none"): (664, "92daee64c89987c1"),
    ("option_order", "negation", "all"): (664, "bdfda9e51154c7e9"),
    ("option_order", "toxic_words", "none"): (96, "5eddbaa7a2fc2be0"),
    ("option_order", "toxic_words", "all"): (96, "5eddbaa7a2fc2be0"),
    ("antonym", "negation", "none"): (212, "3269f1beed0fabc2"),
    ("antonym", "negation", "all"): (212, "35d52cd40f04a34a"),
    ("antonym", "toxic_words", "none"): (98, "0a03cb26c8a461a0"),
    ("antonym", "toxic_words", "all"): (98, "0a03cb26c8a461a0"),
    ("change_number", "negation", "none"): (229, "6145c81579ac5c73"),
    ("change_number", "negation", "all"): (229, "1f2217f313e2bfae"),
    ("change_number", "toxic_words", "none"): (100, "8fc6fa07df6a76ed"),
    ("change_number", "toxic_words", "all"): (100, "8fc6fa07df6a76ed"),
    ("typo", "negation", "none"): (393, "74a12d1df6f35b03"),
    ("typo", "negation", "all"): (393, "441b8fd88e48eb75"),
    ("typo", "toxic_words", "none"): (192, "3af82340304a3d36"),
    ("typo", "toxic_words", "all"): (192, "3af82340304a3d36"),
    ("casing", "negation", "none"): (410, "b0b3da6214d78282"),
    ("casing", "negation", "all"): (410, "0e3953a19b2ddefe"),
    ("casing", "toxic_words", "none"): (192, "882f5d847d4ea712"),
    ("casing", "toxic_words", "all"): (192, "882f5d847d4ea712"),
    ("spacing", "negation", "none"): (410, "1a488f568d6b511e"),
    ("spacing", "negation", "all"): (410, "4b4d085ea27c0e5c"),
    ("spacing", "toxic_words", "none"): (192, "227595ffd93dedf0"),
    ("spacing", "toxic_words", "all"): (192, "227595ffd93dedf0"),
    ("contractions", "stories", "none"): (66, "1dc580649bdfe31d"),
    ("contractions", "stories", "all"): (66, "9e773e34ff2c4cac"),
    ("contractions", "toxic_words", "none"): (100, "474b206dcb41e8cf"),
    ("contractions", "toxic_words", "all"): (100, "474b206dcb41e8cf"),
    ("abbreviations", "stories", "none"): (86, "415558ae107e0a62"),
    ("abbreviations", "stories", "all"): (86, "61f7228a1f339494"),
    ("abbreviations", "toxic_words", "none"): (152, "ef27158e361cdd37"),
    ("abbreviations", "toxic_words", "all"): (152, "ef27158e361cdd37"),
    ("ocr_slips", "stories", "none"): (95, "3551b80254b370cd"),
    ("ocr_slips", "stories", "all"): (95, "881435b8e3e7339d"),
    ("ocr_slips", "toxic_words", "none"): (188, "6f4bed179cf7df86"),
    ("ocr_slips", "toxic_words", "all"): (188, "6f4bed179cf7df86"),
    ("spelling", "stories", "none"): (58, "e827dc25ea1c1e1d"),
    ("spelling", "stories", "all"): (58, "d8e1154ef22f1d74"),
    ("spelling", "toxic_words", "none"): (107, "a203ecf60b21f075"),
    ("spelling", "toxic_words", "all"): (107, "a203ecf60b21f075"),
    ("context", "stories", "none"): (96, "6f35039f07a6f2a9"),
    ("context", "stories", "all"): (96, "1096b9ced850cef0"),
    ("context", "toxic_words", "none"): (187, "e1ba3ea0a2164436"),
    ("context", "toxic_words", "all"): (187, "e1ba3ea0a2164436"),
    ("names", "stories", "none"): (80, "a16516fb16462f25"),
    ("names", "stories", "all"): (80, "74f1f45c4adea24a"),
    ("names", "toxic_words", "none"): (100, "efebe1166734d490"),
    ("names", "toxic_words", "all"): (100, "efebe1166734d490"),
    ("gender", "stories", "none"): (73, "6d174c87a8e14377"),
    ("gender", "stories", "all"): (73, "803bf46cb5944fda"),
    ("gender", "toxic_words", "none"): (101, "5bbd876b40c46ff0"),
    ("gender", "toxic_words", "all"): (101, "5bbd876b40c46ff0"),
    ("countries", "stories", "none"): (63, "755f18d98a98f129"),
    ("countries", "stories", "all"): (63, "081203d41a3c059a"),
    ("countries", "toxic_words", "none"): (96, "73253a5e5c8a3791"),
    ("countries", "toxic_words", "all"): (96, "73253a5e5c8a3791"),
    ("swap_roles", "negation", "none"): (205, "687cd73d3a8da60d"),
    ("swap_roles", "negation", "all"): (205, "687cd73d3a8da60d"),
    ("swap_roles", "toxic_words", "none"): (96, "ef1a4502fc634d25"),
    ("swap_roles", "toxic_words", "all"): (96, "ef1a4502fc634d25"),
    ("judge_order", "judge_pairs", "none"): (448, "abfb630a1168c5c3"),
    ("judge_order", "judge_pairs", "all"): (448, "836796ceaf23f2be"),
    ("judge_cues", "judge_pairs", "none"): (1728, "8f5aa7725e0a0548"),
    ("judge_cues", "judge_pairs", "all"): (1728, "95e03d4ee71a6cc3"),
    ("item_order", "item_lists", "none"): (359, "af90ac2a73fd142d"),
    ("item_order", "item_lists", "all"): (359, "59561c2cd6611ac7"),
}
"""By probe, bundled samples and likelihoods of the model: cases with their controls, and a digest of their prompts."""
KEYS = Keys(
    ModelSpec(id="openai/x", generation=Generation(max_new_tokens=48), system_instruction="Be brief."),
    {"revision": "1", "dtype": "", "device": ""},
)


def prompts(test: str, source: str, likelihoods: Likelihoods) -> Iterator[object]:
    """What is asked of every sample, under which keys."""
    chosen = probe(test)
    settings = chosen.settings_type()
    for sample in load_samples(DataSettings(source=source), chosen.sample_type, limit=None, seed=0).samples:
        cases = [*chosen.cases(sample, settings, rng=rng_for(0, sample.id, test), likelihoods=likelihoods)]
        if cases[0].skip_reason is None:
            cases.append(chosen.control(cases[0], sample, settings, rng=rng_for(1, sample.id, test)))
        for case in filter(None, cases):
            questions = (
                [] if case.skip_reason else asked([case], form="json_schema" if likelihoods == "none" else "plain")
            )
            yield [case.id, case.original_prompt, case.perturbed_prompt, [KEYS.of(question) for question in questions]]


@pytest.mark.parametrize("name", RECORDED)
def test_prompts_and_keys_are_as_before(name: tuple[str, str, Likelihoods]) -> None:
    found = [json.dumps(case) for case in prompts(*name)]
    assert (len(found), hashlib.sha256("\n".join(found).encode()).hexdigest()[:16]) == RECORDED[name]


def test_every_probe_is_recorded() -> None:
    assert set(names("probes")) <= {test for test, _, _ in RECORDED}

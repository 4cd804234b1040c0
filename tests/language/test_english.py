"""Another language is told from English, and English hardly ever taken for one."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from places import REPOSITORY

from contrapose.tasks.language import english
from contrapose.tasks.language.english import is_english
from contrapose.tasks.probes.negation import negate

FOREIGN = [
    "Die Katze ist schwarz.", "Was ist die Hauptstadt von Frankreich?", "Die Erde ist rund.", "Le chat est noir.",
    "Quelle est la capitale de la France?", "El gato es negro.", "¿Cuál es la capital de Francia?", "Il gatto è nero.",
    "De kat is zwart.", "O gato é preto.", "Katten är svart.", "Kot jest czarny.", "Кошка чёрная.", "天空是蓝色的。",
]  # fmt: skip

ENGLISH = [
    "Is Pluto a planet?", "paris is in france", "la la land is a film", "Die Hard is a film",
    "Angela Merkel met Emmanuel Macron in Berlin.", "Dr. Müller visited São Paulo.", "Beethoven wrote Für Elise.",
    "Bonjour means hello", "SELECT name FROM users WHERE id = 3", "def f(x): return x", "print x if x is None else y",
    "El Niño is a climate pattern", "Cats sleep.", "A", "", "2 + 2 = 4.",
]  # fmt: skip


@pytest.mark.parametrize("text", FOREIGN)
def test_another_language_is_not_negated(text: str) -> None:
    assert not is_english(text)
    assert (negate(text).text, negate(text).reason) == (None, "not_english")


@pytest.mark.parametrize("text", ENGLISH)
def test_english_stays_english(text: str) -> None:
    assert is_english(text)


def test_bundled_texts_need_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(english, "_load_language_identifier", lambda: pytest.fail("the model was loaded"))
    lines = (REPOSITORY / "data" / "samples" / "negation.jsonl").read_text().splitlines()
    texts = [row.get("question") or row["text"] for row in map(json.loads, lines)]
    assert all(negate(text).reason != "not_english" for text in texts)


def test_the_model_is_imported_only_where_it_is_asked() -> None:
    code = "import sys; from contrapose.tasks.probes.negation import negate; negate('Cats sleep.')"
    done = subprocess.run([sys.executable, "-c", f"{code}; print('py3langid' in sys.modules)"], capture_output=True)
    assert done.stdout.strip() == b"False"

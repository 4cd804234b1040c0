"""In which form letters are asked: the first that found out settles it, unless it is found out again on purpose."""

from __future__ import annotations

import pytest

from contrapose.tasks.store import Store

pytestmark = pytest.mark.usefixtures("store")


def test_the_first_form_stays_and_a_wanted_one_replaces_it() -> None:
    forms = Store().forms
    assert forms.find("key") is None
    forms.note("key", "plain", model="m", run="first", again=False)
    forms.note("key", "json_schema", model="m", run="second", again=False)
    assert forms.find("key") == "plain"
    forms.note("key", "json_schema", model="m", run="second", again=True)
    assert forms.find("key", run="second") == forms.find("key") == "json_schema"


def test_a_form_is_known_by_its_key_and_where_that_is_asked_by_its_run() -> None:
    forms = Store().forms
    forms.note("key", "plain", model="m", run="first", again=False)
    forms.note("other", "json_schema", model="m", run="second", again=False)
    assert (forms.find("key"), forms.find("other")) == ("plain", "json_schema")
    assert (forms.find("key", run="first"), forms.find("key", run="second")) == ("plain", None)

"""A Messages request made one of Vertex AI."""

import json
from typing import Any

import pytest

from zurelay.chat.problems import Refused
from zurelay.chat.profile import Profile
from zurelay.formats.base import Outbound, Target
from zurelay.formats.vertex_messages.request import LACKS, laid_over, rewritten

TARGET = Target("public", "claude-opus-4-5@20251101", Profile())
BODY = {"model": "claude-opus-4-5@20251101", "max_tokens": 5, "messages": [{"role": "user"}]}


def out(**fields: Any) -> Outbound:
    headers = (("anthropic-version", "2023-06-01"), ("anthropic-beta", "web-search-2025-03-05"))
    body = json.dumps({**BODY, **fields}).encode()
    return Outbound("/v1/messages", body, ("seed",), headers, stop=("x",), json_text=True)


def test_the_model_goes_into_the_path_and_the_version_into_the_body() -> None:
    found = rewritten(out(), TARGET)
    assert found.path == "/publishers/anthropic/models/claude-opus-4-5@20251101:rawPredict"
    assert json.loads(found.body) == {
        "anthropic_version": "vertex-2023-10-16",
        "max_tokens": 5,
        "messages": BODY["messages"],
    }
    assert found.headers == (("anthropic-beta", "web-search-2025-03-05"),)
    assert (found.dropped, found.stop, found.json_text) == (("seed",), ("x",), True)


@pytest.mark.parametrize(
    ("stream", "ending"), [(True, ":streamRawPredict"), (False, ":rawPredict")]
)
def test_a_stream_is_another_method(stream: bool, ending: str) -> None:
    found = rewritten(out(stream=stream), TARGET)
    assert found.path.endswith(ending)
    assert json.loads(found.body)["stream"] is stream


def test_fields_that_are_unknown_there_go_and_are_reported() -> None:
    found = rewritten(out(**dict.fromkeys(sorted(LACKS), "x"), future=1), TARGET)
    body = json.loads(found.body)
    assert not LACKS & set(body)
    assert body["future"] == 1
    assert set(found.dropped) == {"seed", *LACKS}


@pytest.mark.parametrize("name", ["", "..", "a/b", "a:b", "a?b", "a%2fb"])
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(Refused):
        rewritten(out(), Target("public", name, Profile()))


@pytest.mark.parametrize(("form", "prefill"), [("claude_budget", True), ("claude_effort", False)])
def test_the_profile_is_claudes(form: Any, prefill: bool) -> None:
    found = laid_over(Profile(realm="google-vertex", effort_form=form))
    assert (found.realm, found.prefill, found.temperature_max) == ("anthropic", prefill, 1.0)
    assert found.betas
    assert "temperature" in found.refuses_while_thinking

"""A Messages request made one of InvokeModel."""

import json
from typing import Any

import pytest

from zurelay.chat.profile import Profile
from zurelay.formats.base import Outbound, Target
from zurelay.formats.bedrock_invoke.request import BETAS, LACKS, laid_over, rewritten

TARGET = Target("public", "us.anthropic.claude-opus-5-5-v1:0", Profile())
BODY = {
    "model": "us.anthropic.claude-opus-5-5-v1:0",
    "max_tokens": 5,
    "messages": [{"role": "user", "content": "Hi"}],
}


def out(betas: str = "", **fields: Any) -> Outbound:
    headers = [("anthropic-version", "2023-06-01"), ("x-kept", "1")]
    headers += [("anthropic-beta", betas)] if betas else []
    body = json.dumps({**BODY, **fields}).encode()
    return Outbound("/v1/messages", body, ("seed",), tuple(headers), stop=("x",), json_text=True)


def test_the_model_goes_into_the_path_and_the_version_into_the_body() -> None:
    found = rewritten(out(), TARGET)
    assert found.path == "/model/us.anthropic.claude-opus-5-5-v1%3A0/invoke"
    assert json.loads(found.body) == {
        "anthropic_version": "bedrock-2023-05-31",
        "max_tokens": 5,
        "messages": BODY["messages"],
    }
    assert found.headers == (("x-kept", "1"),)
    assert (found.dropped, found.stop, found.json_text) == (("seed",), ("x",), True)


@pytest.mark.parametrize(
    ("stream", "ending"), [(True, "/invoke-with-response-stream"), (False, "/invoke")]
)
def test_a_stream_is_another_operation(stream: bool, ending: str) -> None:
    found = rewritten(out(stream=stream), TARGET)
    assert found.path.endswith(ending)
    assert "stream" not in json.loads(found.body)


def test_betas_are_a_list_in_the_body() -> None:
    found = rewritten(out("context-1m-2025-08-07,interleaved-thinking-2025-05-14"), TARGET)
    assert json.loads(found.body)["anthropic_beta"] == [
        "context-1m-2025-08-07",
        "interleaved-thinking-2025-05-14",
    ]


def test_fields_that_are_unknown_there_go_and_are_reported() -> None:
    fields = dict.fromkeys(sorted(LACKS), "x")
    found = rewritten(out(**fields, output_config={"effort": "low"}, future=1), TARGET)
    body = json.loads(found.body)
    assert not LACKS & set(body)
    assert (body["output_config"], body["future"]) == ({"effort": "low"}, 1)
    assert found.dropped == ("seed", *sorted(LACKS))


@pytest.mark.parametrize(
    ("betas", "kept"),
    [
        ("context-management-2025-06-27", True),
        ("compact-2026-01-12", True),
        ("interleaved-thinking-2025-05-14", False),
        ("", False),
    ],
)
def test_a_field_goes_together_with_its_beta(betas: str, kept: bool) -> None:
    found = rewritten(out(betas, context_management={"edits": []}), TARGET)
    assert ("context_management" in json.loads(found.body)) == kept
    assert ("context_management" in found.dropped) != kept


def test_what_is_kept_keeps_its_bytes() -> None:
    raw = b'{"model":"m","messages":[ {"content":1.50} ],"max_tokens":1}'
    found = rewritten(Outbound("/v1/messages", raw), TARGET)
    assert b'[ {"content":1.50} ]' in found.body


def test_a_claude_here_reads_what_anthropic_signed() -> None:
    profile = laid_over(Profile(realm="bedrock", refuses_while_thinking=frozenset({"x"})))
    assert (profile.realm, profile.betas) == ("anthropic", BETAS)
    assert profile.refuses_while_thinking >= {"temperature", "x"}

"""Requests that stay Responses: what changes, and that the rest keeps its bytes."""

import json
from typing import Any

import msgspec
import pytest

from tests.formats.openai_responses.answered import FUNCTION, read
from zurelay.chat.profile import Profile
from zurelay.formats.base import Outbound, Target
from zurelay.formats.openai_responses.edit import write
from zurelay.formats.openai_responses.envelope import seal
from zurelay.formats.openai_responses.front import ResponsesFront
from zurelay.formats.openai_responses.toolbox import LITE

THINKING: dict[str, Any] = {"effort": "high", "effort_default": "medium", "reasons": True}


def target(**changes: Any) -> Target:
    quirks = {"realm": "openai", **changes.pop("quirks", {})}
    return Target("m", "up-m", Profile(**quirks), **changes)


def sent(to: Target | None = None, **fields: Any) -> tuple[dict[str, Any], Outbound]:
    out = write(read(**fields), to or target())
    return json.loads(out.body), out


def test_the_rest_keeps_its_bytes() -> None:
    odd = b'{ "n":1.50, "s":"\\u00e9" }'
    item = b'{"role":"assistant", "content":"A", "phase":"commentary", "x":1e2}'
    body = b'{"model":"m","input":[' + item + b'],"future_field":' + odd + b"}"
    out = write(ResponsesFront().read(body), target())
    assert b'"future_field":' + odd in out.body
    assert item in out.body
    assert not out.dropped


def test_nothing_is_stored_and_what_stays_here_is_not_sent() -> None:
    body, out = sent(
        store=True, user="u", metadata={"a": "b"}, safety_identifier="s", models=["x"], stream=True
    )
    assert body == {"model": "up-m", "store": False, "input": "Hi"}
    assert out.dropped == ("store",)
    assert out.path == "/responses"
    assert sent(target(stream=True))[0]["stream"] is True


@pytest.mark.parametrize(
    ("limit", "most", "held", "dropped"),
    [
        (100, None, 100, ()),
        (100, 50, 50, ("max_output_tokens",)),
        (5, None, 16, ("max_output_tokens",)),
    ],
)
def test_the_limit_is_one_that_the_model_takes(
    limit: int, most: int | None, held: int, dropped: tuple[str, ...]
) -> None:
    body, out = sent(target(max_output=most), max_output_tokens=limit)
    assert (body["max_output_tokens"], out.dropped) == (held, dropped)


def test_the_level_is_the_one_in_force_and_thinking_is_shared() -> None:
    body, _ = sent(target(**THINKING), reasoning={"effort": "max", "context": "all_turns"})
    assert body["reasoning"] == {"effort": "high", "context": "all_turns", "summary": "auto"}
    assert body["include"] == ["reasoning.encrypted_content"]
    own, _ = sent(target(**THINKING), reasoning={"summary": "concise"}, include=["x"])
    assert own["reasoning"]["summary"] == "concise"
    assert own["include"] == ["x", "reasoning.encrypted_content"]
    lacking, _ = sent(target(**THINKING, quirks={"thinking_summary": False}))
    assert lacking["reasoning"] == {"effort": "high"}


def test_a_model_that_does_not_reason_is_sent_nothing_of_it() -> None:
    body, _ = sent(reasoning={"effort": "high"})
    assert "reasoning" not in body
    assert "include" not in body


def test_sampling_goes_where_it_would_be_refused() -> None:
    refusing = target(**THINKING, quirks={"refuses_while_thinking": frozenset({"top_p"})})
    body, out = sent(refusing, top_p=0.5, temperature=0.5)
    assert (out.dropped, body["temperature"]) == (("top_p",), 0.5)


def test_a_tier_passes_only_where_it_is_priced() -> None:
    assert sent(service_tier="flex")[1].dropped == ("service_tier",)
    assert sent(target(allows=frozenset({"service_tier"})), service_tier="flex")[1].dropped == ()


def test_the_cache_key_is_the_accounts_own() -> None:
    assert sent(target(cache_key="own"), prompt_cache_key="k")[0]["prompt_cache_key"] == "own"


def test_thinking_goes_back_to_its_maker_alone_and_ids_to_nobody() -> None:
    summary = [{"type": "summary_text", "text": "Hm"}]
    ours = seal("ENC", "openai/responses", redacted=True)
    items = [
        {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": ours},
        {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "RAW"},
        {
            "type": "reasoning",
            "summary": [],
            "encrypted_content": seal("S", "anthropic/messages", redacted=False),
        },
        {"type": "reasoning", "summary": summary},
        {"type": "message", "id": "msg_1", "role": "assistant", "content": "A", "phase": "x"},
    ]
    body, _ = sent(input=items)
    assert body["input"] == [
        {"type": "reasoning", "summary": summary, "encrypted_content": "ENC"},
        {"type": "reasoning", "summary": [], "encrypted_content": "RAW"},
        {"type": "message", "role": "assistant", "content": "A", "phase": "x"},
    ]
    azure, _ = sent(target(quirks={"realm": "azure"}), input=items)
    assert [item["type"] for item in azure["input"]] == ["message"]


def test_a_model_that_may_not_be_forced_is_told() -> None:
    never = target(quirks={"forced_tools": "never"})
    choice = {"type": "function", "name": "f"}
    body, out = sent(never, tools=[FUNCTION], tool_choice=choice)
    assert (body["tool_choice"], out.dropped) == ("auto", ("tool_choice",))
    first, last = body["input"]
    assert first == {"role": "user", "content": "Hi"}
    assert "`f`" in last["content"]
    while_thinking = target(quirks={"forced_tools": "not_thinking"}, effort="none")
    assert sent(while_thinking, tools=[FUNCTION], tool_choice=choice)[1].dropped == ()


def test_what_codex_says_of_its_tools_goes_to_openai_alone() -> None:
    brought = {"type": "additional_tools", "role": "developer", "tools": [FUNCTION]}
    items = [brought, {"role": "user", "content": "Hi"}]
    asked = msgspec.structs.replace(read(input=items), headers={LITE: "true"})
    out = write(asked, target())
    assert out.headers == ((LITE, "true"),)
    assert json.loads(out.body)["input"] == items
    assert write(asked, target(quirks={"realm": "azure"})).headers == ()
    assert write(read(input=items), target()).headers == ()


def test_the_same_request_gives_the_same_bytes() -> None:
    inbound = read(input=[{"role": "user", "content": "Q"}], tools=[FUNCTION])
    assert write(inbound, target()).body == write(inbound, target()).body

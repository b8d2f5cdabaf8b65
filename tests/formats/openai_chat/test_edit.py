"""Requests that stay in this format: what is changed, what is reported, what is left alone."""

import json
from typing import Any

import pytest

from zurelay.chat.problems import Refused
from zurelay.chat.profile import Profile
from zurelay.formats.base import Outbound, Target
from zurelay.formats.openai_chat import edit
from zurelay.formats.openai_chat.front import ChatFront

USER: dict[str, Any] = {"role": "user", "content": "hi"}
TOOL = {"type": "function", "function": {"name": "f", "strict": True}}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def target(profile: Profile | None = None, **changes: Any) -> Target:
    return Target("public", "upstream", profile or Profile(), **changes)


def write(to: Target | None = None, /, **fields: Any) -> Outbound:
    inbound = ChatFront().read(json.dumps({"model": "m", "messages": [USER], **fields}).encode())
    first = edit.write(inbound, to or target())
    assert edit.write(inbound, to or target()) == first
    return first


def sent(to: Target | None = None, /, **fields: Any) -> Any:
    return json.loads(write(to, **fields).body)


def test_a_plain_request_changes_its_model_alone() -> None:
    raw = b'{"messages": [ {"role":"user","content":"\\u0041", "x" : 1e400} ],"model":"m","y": 10000000000000000000000.50}'
    out = edit.write(ChatFront().read(raw), target())
    assert out.path == "/chat/completions"
    assert out.dropped == ()
    assert b'[ {"role":"user","content":"\\u0041", "x" : 1e400} ]' in out.body
    assert b"10000000000000000000000.50" in out.body
    assert json.loads(out.body)["model"] == "upstream"


def test_the_last_of_repeated_keys_is_what_is_checked_and_sent() -> None:
    raw = b'{"model":"a","model":"m","messages":[],"messages":[{"role":"user","content":"x"}]}'
    body = edit.write(ChatFront().read(raw), target()).body
    assert body == b'{"model":"upstream","messages":[{"role":"user","content":"x"}]}'


PROBES: dict[str, Any] = {
    "temperature": 0.5,
    "top_p": 0.5,
    "stop": ["a"],
    "max_tokens": 5,
    "max_completion_tokens": 5,
    "n": 2,
    "seed": 1,
    "presence_penalty": 1,
    "frequency_penalty": 1,
    "logit_bias": {"1": 2},
    "logprobs": True,
    "top_logprobs": 2,
    "tools": [TOOL],
    "parallel_tool_calls": False,
    "response_format": {"type": "json_object"},
    "verbosity": "low",
    "prompt_cache_key": "k",
    "service_tier": "flex",
    "store": True,
    "web_search_options": {},
    "plugins": [{"id": "web"}],
    "prediction": {"type": "content", "content": "x"},
    "modalities": ["text"],
    "provider": {"order": ["a"]},
    "some_future_field": [1],
}


@pytest.mark.parametrize("name", PROBES)
@pytest.mark.parametrize(
    "profile", [Profile(), Profile(refuses=frozenset(PROBES) - {"n"}), Profile(stop_limit=0)]
)
def test_each_field_alone_is_sent_or_reported(name: str, profile: Profile) -> None:
    out = write(target(profile), **{name: PROBES[name]})
    moved = out.body != write(target(profile)).body
    told = bool(out.dropped) or bool(out.stop)
    assert moved or told
    if told:
        assert set(out.dropped) <= {name}


@pytest.mark.parametrize("name", ["service_tier", "modalities", "audio", "web_search_options"])
def test_what_costs_passes_only_where_it_has_a_price(name: str) -> None:
    field = {name: PROBES.get(name, {"voice": "ash"})}
    assert write(**field).dropped == (name,)
    allowed = write(target(allows=frozenset({name})), **field)
    assert (json.loads(allowed.body)[name], allowed.dropped) == (field[name], ())


def test_what_the_gateway_uses_itself_is_neither_sent_nor_reported() -> None:
    out = write(
        models=["a"], user="u", metadata={"a": "b"}, safety_identifier="s", store=False,
        reasoning_effort="high", stream_options={"include_usage": False},
    )  # fmt: skip
    assert out == write()


def test_stream_asks_for_usage_and_keeps_the_callers_options() -> None:
    options = {"include_usage": False, "include_obfuscation": False}
    assert sent(target(stream=True), stream=True, stream_options=options)["stream_options"] == {
        "include_usage": True,
        "include_obfuscation": False,
    }
    assert sent(target(stream=True)) == {
        "model": "upstream",
        "messages": [USER],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    for mute in (Profile(asks_usage=False), Profile(refuses=frozenset({"stream_options"}))):
        out = write(target(mute, stream=True), stream=True, stream_options=options)
        assert "stream_options" not in json.loads(out.body)
        assert out.dropped == ()
    assert "stream" not in sent(target(stream=False), stream=True)


def test_the_token_limit_gets_the_profiles_name_and_the_models_maximum() -> None:
    new = target(Profile(token_limit_field="max_completion_tokens"), max_output=100)
    assert sent(new, max_tokens=50)["max_completion_tokens"] == 50
    assert "max_tokens" not in sent(new, max_tokens=50)
    out = write(target(max_output=100), max_completion_tokens=500)
    assert json.loads(out.body)["max_tokens"] == 100
    assert out.dropped == ("max_completion_tokens",)
    assert write(target(max_output=100), max_tokens=500).dropped == ("max_tokens",)
    assert "max_tokens" not in sent(target(max_output=100))


def test_fields_refused_while_thinking_go_unless_effort_is_none() -> None:
    profile = Profile(refuses_while_thinking=frozenset({"temperature", "stop"}))
    on = write(target(profile, effort="low"), temperature=0.5, stop=["a", "b"])
    assert on.dropped == ("temperature",)
    assert on.stop == ("a", "b")
    assert "stop" not in json.loads(on.body)
    for off in (target(profile, effort="none"), target(profile, effort_default="none")):
        kept = write(off, temperature=0.5, stop=["a"])
        assert (kept.dropped, kept.stop) == ((), ())
        assert json.loads(kept.body)["stop"] == ["a"]


def test_stop_sequences_beyond_the_limit_are_left_to_the_gateway() -> None:
    out = write(target(Profile(stop_limit=1)), stop=["a", "b"])
    assert json.loads(out.body)["stop"] == ["a"]
    assert (out.stop, out.dropped) == (("b",), ())


def test_temperature_is_held_within_what_is_taken_and_reported() -> None:
    profile = Profile(temperature_max=1.0, temperature_min=0.1)
    assert write(target(profile), temperature=1.5).dropped == ("temperature",)
    assert sent(target(profile), temperature=1.5)["temperature"] == 1.0
    assert sent(target(profile), temperature=0)["temperature"] == 0.1
    assert write(target(profile), temperature=1).dropped == ()


def test_several_choices_where_impossible_are_a_400() -> None:
    profile = Profile(refuses=frozenset({"n"}))
    with pytest.raises(Refused) as caught:
        write(target(profile), n=2)
    assert caught.value.problem.param == "n"
    assert write(target(profile), n=1).dropped == ()
    assert "n" not in sent(target(profile), n=1)


@pytest.mark.parametrize(
    ("part", "profile", "path"),
    [
        (
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,x"}},
            Profile(file_parts=False),
            "messages[0].content[0]",
        ),
        (
            {"type": "image_url", "image_url": {"url": "https://x/y"}},
            Profile(image_urls=False),
            "messages[0].content[0]",
        ),
    ],
)
def test_parts_that_cannot_be_carried_are_a_400(part: Any, profile: Profile, path: str) -> None:
    messages = [{"role": "user", "content": [part]}]
    with pytest.raises(Refused) as caught:
        write(target(profile), messages=messages)
    assert (caught.value.problem.code, caught.value.problem.param) == ("unsupported_content", path)
    assert write(messages=messages).dropped == ()


def test_costly_fields_pass_only_where_allowed() -> None:
    assert write(service_tier="flex").dropped == ("service_tier",)
    allowed = write(target(allows=frozenset({"service_tier"})), service_tier="flex")
    assert json.loads(allowed.body)["service_tier"] == "flex"


def test_seed_cache_key_and_additions() -> None:
    profile = Profile(seed_field="random_seed", adds={"tool_stream": True, "top_p": 0.1})
    body = sent(target(profile, cache_key="acct-k"), seed=7, top_p=0.9, prompt_cache_key="k")
    assert body["random_seed"] == 7
    assert "seed" not in body
    assert (body["tool_stream"], body["top_p"], body["prompt_cache_key"]) == (True, 0.9, "acct-k")
    assert "prompt_cache_key" not in sent(target(cache_key="acct-k"))


def test_strict_tools_are_sent_only_where_known() -> None:
    out = write(target(Profile(strict_tools=False)), tools=[TOOL])
    assert json.loads(out.body)["tools"] == [{"type": "function", "function": {"name": "f"}}]
    assert out.dropped == ("tools[].function.strict",)
    assert sent(tools=[TOOL])["tools"] == [TOOL]


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "f"}}])
def test_a_forced_tool_becomes_a_line_where_it_is_refused(choice: Any) -> None:
    for refusing in (
        target(Profile(forced_tools="never"), effort="none"),
        target(Profile(forced_tools="not_thinking"), effort="high"),
    ):
        out = write(refusing, tools=[TOOL], tool_choice=choice)
        body = json.loads(out.body)
        assert (body["tool_choice"], out.dropped) == ("auto", ("tool_choice",))
        assert body["messages"][0] == USER
        assert body["messages"][1]["role"] == "system"
    kept = target(Profile(forced_tools="not_thinking"), effort="none")
    assert sent(kept, tools=[TOOL], tool_choice=choice)["tool_choice"] == choice


def test_a_schema_becomes_what_the_provider_has() -> None:
    wanted = {
        "type": "json_schema",
        "json_schema": {"name": "n", "schema": {"type": "object", "x": "MARK"}},
    }
    assert sent(response_format=wanted)["response_format"] == wanted
    half = sent(target(Profile(json_schema="object")), response_format=wanted)
    assert half["response_format"] == {"type": "json_object"}
    assert "MARK" in half["messages"][-1]["content"]
    out = write(target(Profile(json_schema="none", single_system=True)), response_format=wanted)
    body = json.loads(out.body)
    assert "response_format" not in body
    assert "MARK" in body["messages"][0]["content"]
    assert out.dropped == ("response_format",)
    apart = target(Profile(schema_with_tools=False))
    assert sent(apart, response_format=wanted)["response_format"] == wanted
    assert "response_format" not in sent(apart, response_format=wanted, tools=[TOOL])


def test_effort_lies_over_the_callers_own_object() -> None:
    profile = Profile(effort_form="template_kwargs")
    body = sent(
        target(profile, effort="low"), chat_template_kwargs={"a": 1}, reasoning_effort="max"
    )
    assert body["chat_template_kwargs"] == {"a": 1, "enable_thinking": True}
    assert body["reasoning_effort"] == "low"
    assert "reasoning_effort" not in sent(target(profile), reasoning_effort="max")

"""What the Open Responses compliance suite asks of an endpoint, put in our own words.

Its seven requests, sent to sandbox models; each answer and each event must have the fields and
types that its schema requires (openresponses.org, 2026-11).
"""

import json
import urllib.request
from typing import Any

import pytest

from tests.formats.openai_responses.answered import LifeCycle, events
from tests.served import Served

Json = dict[str, Any]

NOTHING = type(None)
RESPONSE: dict[str, tuple[type, ...]] = {
    "id": (str,),
    "object": (str,),
    "created_at": (int,),
    "completed_at": (int, NOTHING),
    "status": (str,),
    "incomplete_details": (dict, NOTHING),
    "model": (str,),
    "previous_response_id": (str, NOTHING),
    "instructions": (str, NOTHING),
    "output": (list,),
    "error": (dict, NOTHING),
    "tools": (list,),
    "tool_choice": (str, dict),
    "truncation": (str,),
    "parallel_tool_calls": (bool,),
    "text": (dict,),
    "top_p": (int, float),
    "presence_penalty": (int, float),
    "frequency_penalty": (int, float),
    "top_logprobs": (int,),
    "temperature": (int, float),
    "reasoning": (dict, NOTHING),
    "usage": (dict, NOTHING),
    "max_output_tokens": (int, NOTHING),
    "max_tool_calls": (int, NOTHING),
    "store": (bool,),
    "background": (bool,),
    "service_tier": (str,),
    "metadata": (dict,),
    "safety_identifier": (str, NOTHING),
    "prompt_cache_key": (str, NOTHING),
}
ITEMS: dict[str, dict[str, tuple[type, ...]]] = {
    "message": {"id": (str,), "status": (str,), "role": (str,), "content": (list,)},
    "function_call": {
        "id": (str,),
        "call_id": (str,),
        "name": (str,),
        "arguments": (str,),
        "status": (str,),
    },
    "reasoning": {"id": (str,), "summary": (list,)},
}
TEXT: dict[str, tuple[type, ...]] = {"text": (str,), "annotations": (list,), "logprobs": (list,)}
TOOL: dict[str, tuple[type, ...]] = {
    "name": (str,),
    "description": (str, NOTHING),
    "parameters": (dict, NOTHING),
    "strict": (bool, NOTHING),
}
USAGE: dict[str, tuple[type, ...]] = {
    "input_tokens": (int,),
    "output_tokens": (int,),
    "total_tokens": (int,),
    "input_tokens_details": (dict,),
    "output_tokens_details": (dict,),
}
WEATHER: Json = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather somewhere",
    "parameters": {
        "type": "object",
        "properties": {"location": {"type": "string"}},
        "required": ["location"],
    },
}
HEART = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def said(role: str, content: Any) -> Json:
    return {"type": "message", "role": role, "content": content}


LOOK = said(
    "user",
    [
        {"type": "input_text", "text": "What is it?"},
        {"type": "input_image", "image_url": HEART},
    ],
)
CASES: dict[str, tuple[str, Json, str]] = {
    "text": ("sandbox/echo", {"input": [said("user", "Hello")]}, "message"),
    "system": (
        "sandbox/echo",
        {"input": [said("system", "Be brief."), said("user", "Hello")]},
        "message",
    ),
    "tools": (
        "sandbox/tools",
        {"input": [said("user", "Weather?")], "tools": [WEATHER]},
        "function_call",
    ),
    "image": ("sandbox/echo", {"input": [LOOK]}, "message"),
    "turns": (
        "sandbox/echo",
        {"input": [said("user", "I am A."), said("assistant", "Hello A."), said("user", "Who?")]},
        "message",
    ),
    "thinking": ("sandbox/reasoning", {"input": [said("user", "Why?")]}, "reasoning"),
}


def asked(served: Served, body: Json) -> bytes:
    request = urllib.request.Request(  # noqa: S310 - a loopback address
        f"{served.base_url}/responses",
        json.dumps(body).encode(),
        {"authorization": f"Bearer {served.key}", "content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310
        found: bytes = answer.read()
    return found


def holds(found: Json, required: dict[str, tuple[type, ...]]) -> None:
    wrong = {
        name: found.get(name, "missing")
        for name, kinds in required.items()
        if name not in found or type(found[name]) not in kinds
    }
    assert wrong == {}


def complies(response: Json) -> None:
    holds(response, RESPONSE)
    for item in response["output"]:
        holds(item, ITEMS[item["type"]])
        assert isinstance(item.get("encrypted_content", ""), str)
        for part in item.get("content", ()):
            holds(part, TEXT)
    for tool in response["tools"]:
        holds(tool, TOOL)
    if response["usage"] is not None:
        holds(response["usage"], USAGE)


@pytest.mark.parametrize("case", CASES)
def test_a_plain_answer_complies(served: Served, case: str) -> None:
    model, fields, kind = CASES[case]
    response: Json = json.loads(asked(served, {"model": model, **fields}))
    complies(response)
    assert response["status"] == "completed"
    assert kind in {item["type"] for item in response["output"]}


@pytest.mark.parametrize("case", CASES)
def test_a_stream_complies(served: Served, case: str) -> None:
    model, fields, kind = CASES[case]
    stream = asked(served, {"model": model, "stream": True, **fields})
    for event in events(stream):
        if "response" in event:
            complies(event["response"])
        if "item" in event:
            holds(event["item"], ITEMS[event["item"]["type"]])
    cycle = LifeCycle.of(stream)
    assert cycle.ended == "completed"
    assert kind in {item["type"] for item in cycle.response["output"]}

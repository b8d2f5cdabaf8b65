"""A gateway in front of hosts that differ in how they take and share thinking."""

import json
from typing import Any

from zurelay.testing.chat import chat_chunks, chat_reply, chat_usage
from zurelay.testing.script import Script, json_reply, sse_event, sse_reply
from zurelay.testing.upstream import Request, ScriptedUpstream

EFFORT = "x-zurelay-reasoning-effort"
DROPPED = "x-zurelay-dropped-params"

LEVELS = {
    "two": ("low", "high"),
    "no-xhigh": ("low", "medium", "high", "max"),
    "upper": ("medium", "high", "xhigh"),
    "one": ("high",),
    "with-off": ("none", "low", "medium", "high"),
    "without": (),
}


def configuration(upstream: ScriptedUpstream) -> str:
    models = "".join(
        f'[models."{name}"]\nroutes = [{{ provider = "host", model = "{name}" }}]\n'
        f"reasoning = {{ levels = {json.dumps(levels)} }}\n"
        for name, levels in LEVELS.items()
    )
    return f"""
[sandbox]
enabled = false

[providers.host]
kind = "groq"
base_url = "{upstream.base_url}"
api_key = "k"
catalogue = false

[providers.deepseek]
kind = "deepseek"
base_url = "{upstream.base_url}"
api_key = "k"

[providers.budgets]
kind = "cohere"
base_url = "{upstream.base_url}"
api_key = "k"
catalogue = false

[providers.together]
kind = "together"
base_url = "{upstream.base_url}"
api_key = "k"
catalogue = false

[providers.openrouter]
kind = "openrouter"
base_url = "{upstream.base_url}"
api_key = "k"
catalogue = false

[providers.azure]
kind = "azure-openai"
base_url = "{upstream.base_url}"
api_key = "k"

{models}
[models."defaulted"]
routes = [{{ provider = "host", model = "two" }}]
reasoning = {{ levels = ["low", "high"], default = "high" }}

[models."unknown"]
routes = ["host"]

[models."tags"]
routes = ["host"]
quirks = {{ think_tags = true }}

[models."budget"]
routes = ["budgets"]
reasoning = {{ levels = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] }}
quirks = {{ effort_form = "cohere_thinking" }}

[models."local"]
routes = ["together"]

[models."router"]
routes = ["openrouter"]

[models."gpt-6-sol"]
routes = ["azure"]

[models."gpt-5.5-pro"]
routes = ["azure"]

[models."gpt-4.1"]
routes = ["azure"]

[models."falls"]
routes = ["host"]
reasoning = {{ levels = ["low", "high"] }}
fallbacks = ["upper"]
"""


def plain(request: Request) -> Script:
    """`Hi`, in the form asked for."""
    if request.json.get("stream"):
        return sse_reply(chat_chunks("Hi", usage=chat_usage()))
    return json_reply(chat_reply("Hi"))


TOOLS = [{"type": "function", "function": {"name": "f"}}]


def thoughts(answer: Any) -> list[Any]:
    """Every `reasoning_content` of a stream's deltas."""
    deltas = [c["delta"] for chunk in answer.chunks for c in chunk["choices"]]
    return [delta["reasoning_content"] for delta in deltas if "reasoning_content" in delta]


def claude_says(text: str, body: dict[str, Any]) -> Script:
    """An answer of Anthropic's Messages, in the form that `body` asks for."""
    usage = {"input_tokens": 5, "output_tokens": 2}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"]}
    if not body.get("stream"):
        content = [{"type": "text", "text": text}]
        return json_reply({**head, "content": content, "stop_reason": "end_turn", "usage": usage})
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**head, "content": [], "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage},
        {"type": "message_stop"},
    ]
    return sse_reply([sse_event(event, event["type"]) for event in events])

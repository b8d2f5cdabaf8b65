"""The other side: AWS's own service model checks what is written and says what answers look like."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.validate import ParamValidator

from zurelay.chat.profile import Profile
from zurelay.formats.base import AnswerContext
from zurelay.testing.event_stream import event_stream_event

PLAIN = Profile(realm="bedrock", temperature_max=1.0)
CLAUDE = PLAIN.but(
    effort_form="claude_effort",
    effort_off="disabled",
    refuses=frozenset({"temperature", "top_p", "top_k"}),
)
BUDGET = PLAIN.but(effort_form="claude_budget", effort_off="omit", forced_tools="not_thinking")


@cache
def _service() -> ServiceModel:
    return ServiceModel(Loader().load_service_model("bedrock-runtime", "service-2"))


def faults(body: dict[str, Any]) -> str:
    """What AWS's own client would say against a Converse body; empty if nothing."""
    shape = _service().operation_model("Converse").input_shape
    report = ParamValidator().validate({"modelId": "m", **body}, shape)
    return str(report.generate_report())


def context(**changes: Any) -> AnswerContext:
    base: dict[str, Any] = {
        "answer_id": "chatcmpl-ours",
        "created": 5,
        "model": "public",
        "include_usage": True,
        "prompt_estimate": 10,
        "profile": PLAIN,
    }
    return AnswerContext(**{**base, **changes})


def stream(events: Sequence[tuple[str, dict[str, Any]]]) -> list[bytes]:
    return [event_stream_event(name, content) for name, content in events]


def delta(place: int, **content: Any) -> tuple[str, dict[str, Any]]:
    return "contentBlockDelta", {"contentBlockIndex": place, "delta": content}


def call(place: int, call_id: str, name: str) -> tuple[str, dict[str, Any]]:
    start = {"toolUse": {"toolUseId": call_id, "name": name}}
    return "contentBlockStart", {"contentBlockIndex": place, "start": start}


def stop(place: int) -> tuple[str, dict[str, Any]]:
    return "contentBlockStop", {"contentBlockIndex": place}


def end(reason: str = "end_turn") -> tuple[str, dict[str, Any]]:
    return "messageStop", {"stopReason": reason}


USAGE = {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}
START = ("messageStart", {"role": "assistant"})
METADATA = ("metadata", {"usage": USAGE, "metrics": {"latencyMs": 5}})

"""Finish reasons of all dialects, as one of four words or as a fault."""

from zurelay.chat.events import FinishReason
from zurelay.chat.faults import Fault, FaultKind

_WORDS: dict[str, FinishReason] = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",  # Mistral
    "model_context_window_exceeded": "length",  # Zhipu
    "tool_calls": "tool_calls",
    "tool_call": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    "content_filtered": "content_filter",
    "sensitive": "content_filter",  # Zhipu
    "error_toxic": "content_filter",  # Cohere
    "guardrail_intervened": "content_filter",  # Bedrock
    "refusal": "content_filter",
    "safety": "content_filter",
}
"""Anything else is `stop`: `eos`, `end`, `end_turn`, `stop_sequence`, `complete` and the like."""

_FAULTS = {
    "error": FaultKind.BAD_ANSWER,  # OpenRouter, Mistral, Cohere
    "network_error": FaultKind.BAD_ANSWER,  # Zhipu
    "malformed_function_call": FaultKind.MODEL_FAULT,  # Google
    "insufficient_system_resource": FaultKind.OVERLOADED,  # DeepSeek
    "abort": FaultKind.BAD_ANSWER,  # SGLang, vLLM
}


def fault(word: str) -> Fault | None:
    """The fault that a finish reason stands for, None for a real end."""
    kind = _FAULTS.get(word.lower())
    return Fault(kind, f"finish_reason {word[:40]}", status=200) if kind else None


def read(word: str, has_calls: bool) -> FinishReason:
    """The finish reason callers see, always consistent with whether there are tool calls."""
    reason = _WORDS.get(word.lower(), "stop")
    if has_calls and reason == "stop":
        return "tool_calls"
    return "stop" if reason == "tool_calls" and not has_calls else reason

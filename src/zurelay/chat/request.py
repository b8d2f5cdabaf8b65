"""A request for an answer, in the words of no particular wire format.

A field enters here when two formats know it or the product promises it. What only the caller's own
format knows travels beside it as `extra` and is dropped, and reported, when formats differ.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from zurelay.chat.parts import Part

Role = Literal["system", "developer", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One message. Tool results are parts of a `user` turn."""

    role: Role
    parts: tuple[Part, ...]
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A function the model may call; `parameters` is a JSON schema or None for no arguments.

    `cache` marks a prompt-cache breakpoint after it: `5m` or `1h`.
    """

    name: str
    description: str | None = None
    parameters: Mapping[str, Any] | None = None
    strict: bool | None = None
    cache: str | None = None


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Whether and which tools must be called; `name` only with mode `named`."""

    mode: Literal["auto", "none", "required", "named"]
    name: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """A demand on the answer's text: any JSON object, or JSON by a schema."""

    kind: Literal["json_object", "json_schema"]
    name: str | None = None
    schema: Mapping[str, Any] | None = None
    description: str | None = None
    strict: bool | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """Everything a caller asked of a model, read from any front format."""

    turns: tuple[Turn, ...]
    max_output: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    answer_format: AnswerFormat | None = None
    effort: str | None = None
    seed: int | None = None
    n: int = 1
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    logit_bias: Mapping[str, float] | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    verbosity: str | None = None
    prompt_cache_key: str | None = None
    service_tier: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

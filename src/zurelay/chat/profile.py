"""Quirks of a provider or a model, as data.

A provider's row sets them, a model may override them, the formats obey them. Each value that is
not the default stands in a row with its source and date. Defaults describe a plain
OpenAI-compatible host.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

ReasoningIn = Literal["none", "reasoning_content", "reasoning", "reasoning_details"]
EffortForm = Literal[
    "reasoning_effort",  # the OpenAI field
    "reasoning_object",  # {"reasoning": {"effort": ...}}: OpenRouter, Vercel
    "thinking_type",  # {"thinking": {"type": "enabled" | "disabled"}} + reasoning_effort
    "enable_thinking",  # DashScope: enable_thinking + thinking_budget
    "reasoning_enabled",  # Together: {"reasoning": {"enabled": bool}} + reasoning_effort
    "template_kwargs",  # vLLM, SGLang: chat_template_kwargs.enable_thinking + reasoning_effort
    "cohere_thinking",  # {"thinking": {"type", "token_budget"}}
    "claude_effort",  # {"thinking": {"type": "adaptive"}} + {"output_config": {"effort"}}
    "claude_budget",  # {"thinking": {"type": "enabled", "budget_tokens"}}
    "gemini_level",  # {"thinkingConfig": {"thinkingLevel"}}
    "gemini_budget",  # {"thinkingConfig": {"thinkingBudget"}}
    "nothing",  # no knob: never sent
]


@dataclass(frozen=True, slots=True)
class Profile:
    """How one upstream differs.

    Attributes:
        token_limit_field: the name it takes for the answer's token limit.
        developer_role: it takes the role `developer`; else it is sent as `system`.
        asks_usage: it takes `stream_options.include_usage`.
        refuses: top-level request fields it answers with a 4xx; dropped and reported.
        refuses_while_thinking: likewise, unless the effort in force is `none`.
        drops_message_names: it refuses `messages[].name`.
        strict_tools: it takes `strict` in tool definitions.
        string_content: text-only messages must be plain strings, not part lists.
        stop_limit: how many stop sequences it takes; the rest are cut by the gateway.
        temperature_max: higher values are lowered to it and reported.
        temperature_min: lower values are raised to it (Groq turns 0 into 1e-8 itself).
        tool_ids: `any`, `max64` (64 of [A-Za-z0-9_-]) or `mistral9` (exactly 9 of [A-Za-z0-9]).
        effort_form: how the effort level is written.
        effort_words: level -> the word on the wire where they differ; an empty word leaves the
            effort field out, so that only the form's on/off switch is sent.
        effort_off: how `none` is written: by its word, by leaving the thinking fields out, or by
            {"thinking": {"type": "disabled"}}.
        thinking_adds: further fields of the `thinking` object.
        reasoning_in: the field in which earlier thinking is sent back; `none` drops it.
        reasoning_placeholder: what an assistant turn with tool calls carries when its thinking is
            lost; None sends nothing.
        think_tags: the model writes `<think>...</think>` at the start of its content.
        usage_excludes_reasoning: completion_tokens leaves thinking out.
        out_of_credit: (status, code or type) pairs that mean our account has no money.
        rate_limit_codes: codes of a 4xx that mean "later".
        content_codes: codes that mean the content was refused by a filter.
        overflow_codes: codes that mean the prompt is too long.
        model_fault_codes: codes of a 400 or 424 that mean the model failed on a good request.
        image_urls: it fetches http(s) image URLs itself.
        file_parts: it takes `file` parts.
        realm: which vendor's signed thinking it can read back.
        seed_field: the name it takes for `seed`.
        adds: top-level request fields it needs, sent unless the caller set them.
        single_system: it takes one system message, at the start.
        user_after_tool: a user turn may follow tool results directly; else an assistant turn must
            stand between.
        forced_tools: whether tool_choice may force a call: always, only while not thinking, never.
        json_schema: `response_format` it takes: schemas, only json_object, or none.
        schema_with_tools: a schema and tools may stand in one request.
        chat_lacks: what its Chat Completions endpoint refuses and its Responses endpoint takes:
            `tools` (while thinking), `thinking` (it shares none) and effort levels by name.
        budget_field: where a thinking budget in tokens is written; empty if it takes none.
        thinking_summary: where thinking is shared on request (Responses, Gemini), it may be asked
            for.
        path_prefix: stands before the path that the format itself gives.
        media_in_results: on Gemini, a function's result may hold pictures and files.
        call_ids: on Gemini, functions' calls and results carry ids.
        dimensions_field: on embeddings, the name it takes for `dimensions`.
        prefill: a conversation may end with an assistant turn, which the model goes on with.
        late_system: on Messages, a system entry may stand between turns.
        long_cache: on Messages, `cache_control` takes a `ttl`.
        betas: on Messages, the `anthropic-beta` names it takes; None takes any.
        whole_cache: on Messages, `cache_control` of the whole request marks its end.
        auto_cache: the operator wants prompt-cache breakpoints set where the caller set none.
        cache_marks: on Chat Completions and Responses, the field by which a part of another
            format's request carries its breakpoint; `none` drops it.
    """

    token_limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"  # noqa: S105
    developer_role: bool = False
    asks_usage: bool = True
    refuses: frozenset[str] = frozenset()
    refuses_while_thinking: frozenset[str] = frozenset()
    drops_message_names: bool = False
    strict_tools: bool = True
    string_content: bool = False
    stop_limit: int = 4
    temperature_max: float = 2.0
    temperature_min: float = 0.0
    tool_ids: Literal["any", "max64", "mistral9"] = "any"
    effort_form: EffortForm = "reasoning_effort"
    effort_words: tuple[tuple[str, str], ...] = ()
    effort_off: Literal["word", "omit", "disabled"] = "word"
    thinking_adds: Mapping[str, Any] = field(default_factory=dict)
    reasoning_in: ReasoningIn = "none"
    reasoning_placeholder: str | None = None
    think_tags: bool = False
    usage_excludes_reasoning: bool = False
    out_of_credit: frozenset[tuple[int, str]] = frozenset()
    rate_limit_codes: frozenset[str] = frozenset()
    content_codes: frozenset[str] = frozenset()
    overflow_codes: frozenset[str] = frozenset()
    model_fault_codes: frozenset[str] = frozenset()
    image_urls: bool = True
    file_parts: bool = True
    realm: str = ""
    seed_field: str = "seed"
    adds: Mapping[str, Any] = field(default_factory=dict)
    single_system: bool = False
    user_after_tool: bool = True
    forced_tools: Literal["always", "not_thinking", "never"] = "always"
    json_schema: Literal["schema", "object", "none"] = "schema"
    schema_with_tools: bool = True
    chat_lacks: frozenset[str] = frozenset()
    budget_field: str = ""
    thinking_summary: bool = True
    path_prefix: str = ""
    media_in_results: bool = True
    call_ids: bool = True
    dimensions_field: str = "dimensions"
    prefill: bool = True
    late_system: bool = False
    long_cache: bool = True
    betas: frozenset[str] | None = None
    whole_cache: bool = True
    auto_cache: bool = False
    cache_marks: Literal["none", "cache_control", "prompt_cache_breakpoint"] = "none"

    def refused(self, *, thinks: bool) -> frozenset[str]:
        """The request fields it answers with a 4xx while the model thinks, or does not."""
        return self.refuses | self.refuses_while_thinking if thinks else self.refuses

    def but(self, **changes: Any) -> "Profile":
        """This profile with `changes` laid over it."""
        return replace(self, **changes)

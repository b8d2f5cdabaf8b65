"""Names of what was left out, fit for a response header: only names known here, never a caller's.

Knows which top-level fields OpenAI's formats and their well-known hosts have, not what they mean.
"""

from collections.abc import Iterable

UNKNOWN = "unknown_fields"

_KNOWN = frozenset(
    {
        "audio",
        "cache_control",
        "chat_template_kwargs",
        "container",
        "context_management",
        "enable_thinking",
        "extra_body",
        "function_call",
        "functions",
        "guided_json",
        "include",
        "inference_geo",
        "max_tool_calls",
        "mcp_servers",
        "min_p",
        "modalities",
        "moderation",
        "plugins",
        "prediction",
        "prompt_cache_options",
        "prompt_cache_retention",
        "provider",
        "reasoning",
        "reasoning_format",
        "repetition_penalty",
        "safe_prompt",
        "search_parameters",
        "speed",
        "store",
        "thinking",
        "thinking_budget",
        "top_a",
        "top_k",
        "transforms",
        "truncation",
        "web_search_options",
    }
)


def reported(names: Iterable[str]) -> tuple[str, ...]:
    """The known ones of `names`; one word stands for all others."""
    return tuple(dict.fromkeys(name if name in _KNOWN else UNKNOWN for name in names))

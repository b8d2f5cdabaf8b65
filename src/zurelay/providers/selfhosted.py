"""Servers inside the operator's own network that speak Chat Completions: one row each.

They list their own models, need no key unless the operator set one, cost nothing, and take a
long time to the first token while they load a model.
"""

from zurelay.chat.profile import Profile
from zurelay.providers.base import Kind
from zurelay.providers.compatible import FORMAT

_CHECKED = "2026-11-29"

_UNKNOWN_TO_SERVERS = frozenset(
    {"store", "service_tier", "prompt_cache_key", "prompt_cache_retention", "web_search_options"}
)
"""Fields of OpenAI's own platform that mean nothing here and are refused by strict servers."""

VLLM = Kind(
    name="vllm",
    title="vLLM",
    format=FORMAT,
    base_url="http://127.0.0.1:8000/v1",
    key_required=False,
    lists_models=True,
    hosted=False,
    profile=Profile(
        refuses=_UNKNOWN_TO_SERVERS,
        effort_form="template_kwargs",
        budget_field="thinking_token_budget",
        # `reasoning` since January 2026 (vllm #27752, #33402); both names are read (#42664).
        reasoning_in="reasoning",
        # Many chat templates take one system message only, at the start.
        single_system=True,
        strict_tools=False,
        file_parts=False,
    ),
    source="vllm pull requests 27752, 33402, 42664; pydantic-ai",
    checked=_CHECKED,
)

SGLANG = Kind(
    name="sglang",
    title="SGLang",
    format=FORMAT,
    base_url="http://127.0.0.1:30000/v1",
    key_required=False,
    lists_models=True,
    hosted=False,
    profile=Profile(
        refuses=_UNKNOWN_TO_SERVERS,
        effort_form="template_kwargs",
        budget_field="thinking_budget",
        reasoning_in="reasoning_content",
        single_system=True,
        strict_tools=False,
        file_parts=False,
    ),
    source="server's documentation",
    checked=_CHECKED,
)

OLLAMA = Kind(
    name="ollama",
    title="Ollama",
    format=FORMAT,
    base_url="http://127.0.0.1:11434/v1",
    key_required=False,
    lists_models=True,
    hosted=False,
    profile=Profile(
        refuses=_UNKNOWN_TO_SERVERS | {"n", "logit_bias", "logprobs", "top_logprobs"},
        reasoning_in="reasoning",
        strict_tools=False,
        # Image URLs are new: images go as data (ollama's OpenAI page, 2026-11).
        image_urls=False,
        file_parts=False,
    ),
    source="ollama's page on OpenAI compatibility",
    checked=_CHECKED,
)

LLAMA_CPP = Kind(
    name="llama-cpp",
    title="llama.cpp server",
    format=FORMAT,
    base_url="http://127.0.0.1:8080/v1",
    key_required=False,
    lists_models=True,
    hosted=False,
    profile=Profile(
        refuses=_UNKNOWN_TO_SERVERS,
        effort_form="template_kwargs",
        budget_field="thinking_budget_tokens",
        reasoning_in="reasoning_content",
        strict_tools=False,
        file_parts=False,
        overflow_codes=frozenset({"exceed_context_size_error"}),
        # 503 "Loading model" while it starts.
        rate_limit_codes=frozenset({"unavailable_error"}),
    ),
    source="llama.cpp server's documentation",
    checked=_CHECKED,
)

LM_STUDIO = Kind(
    name="lm-studio",
    title="LM Studio",
    format=FORMAT,
    base_url="http://127.0.0.1:1234/v1",
    key_required=False,
    lists_models=True,
    hosted=False,
    profile=Profile(
        refuses=_UNKNOWN_TO_SERVERS,
        reasoning_in="reasoning_content",
        strict_tools=False,
        image_urls=False,
        file_parts=False,
    ),
    source="vendor's bug tracker 649, 830",
    checked=_CHECKED,
)

SELF_HOSTED = (VLLM, SGLANG, OLLAMA, LLAMA_CPP, LM_STUDIO)

"""Vendors that speak the OpenAI Chat Completions format: one row of data each.

A row that needs code is in the wrong file. Quirks of single models stand in the catalogue; here
stands what holds for a vendor's whole API. Sources: `vendor` the vendor's API reference,
`pi-ai` @earendil-works/pi-ai 1.6.0, `pydantic-ai` 2.68.0, `litellm` 1.110.2.
"""

from zurelay.chat.profile import Profile
from zurelay.providers.base import Kind

FORMAT = "openai_chat"
RESPONSES = "openai_responses"
_CHECKED = "2026-11-29"

_OPENAI_OUT_OF_CREDIT = frozenset(
    {
        (429, "insufficient_quota"),
        (429, "credit_balance_exhausted"),
        (429, "billing_hard_limit_reached"),
        (402, "insufficient_quota"),
    }
)
"""OpenAI's words for an empty account; hosts that copied its API copied them too."""

OPENAI = Kind(
    name="openai",
    title="OpenAI",
    format=FORMAT,
    also=(RESPONSES,),
    base_url="https://api.openai.com/v1",
    key_variables=("OPENAI_API_KEY",),
    vendor="openai",
    profile=Profile(
        # max_tokens is a 400 on every model since o1 (litellm #13381); older ones take both names.
        token_limit_field="max_completion_tokens",  # noqa: S106 - a field's name
        # Only api.openai.com and Azure know the role (pi-ai, 2026-11-20).
        developer_role=True,
        out_of_credit=_OPENAI_OUT_OF_CREDIT,
        content_codes=frozenset({"content_policy_violation", "content_filter"}),
        overflow_codes=frozenset({"context_length_exceeded"}),
        # A ramp that is too steep is answered with this code (vendor, 2026-11).
        rate_limit_codes=frozenset({"slow_down"}),
        # Chat has file_data only, no file URL; ids of uploads belong to the account.
        tool_ids="max64",
        realm="openai",
    ),
    source="vendor, pi-ai, pydantic-ai",
    checked=_CHECKED,
)

AZURE_OPENAI = Kind(
    name="azure-openai",
    title="Azure OpenAI",
    format=FORMAT,
    also=(RESPONSES,),
    # https://RESOURCE.openai.azure.com/openai/v1: every resource has its own.
    base_url="",
    key_variables=("AZURE_OPENAI_API_KEY",),
    auth="api-key",
    # A model here is a deployment, named by the operator: nothing to serve unasked.
    vendor=None,
    runs_models_of="openai",
    profile=Profile(
        token_limit_field="max_completion_tokens",  # noqa: S106 - a field's name
        developer_role=True,
        # Chat Completions refuses file parts, Responses takes them (pydantic-ai, 2026-11).
        file_parts=False,
        out_of_credit=_OPENAI_OUT_OF_CREDIT,
        # A blocked prompt is a 400 with this code (vendor, 2026-11).
        content_codes=frozenset({"content_filter"}),
        overflow_codes=frozenset({"context_length_exceeded"}),
        rate_limit_codes=frozenset({"too_many_requests"}),
        tool_ids="max64",
        # Encrypted thinking of OpenAI cannot be read here, nor the other way (pydantic-ai).
        realm="azure-openai",
    ),
    source="vendor, pydantic-ai",
    checked=_CHECKED,
)

XAI = Kind(
    name="xai",
    title="xAI",
    format=FORMAT,
    base_url="https://api.x.ai/v1",
    key_variables=("XAI_API_KEY",),
    vendor="xai",
    profile=Profile(
        token_limit_field="max_completion_tokens",  # noqa: S106 - a field's name
        # completion_tokens counts only the visible answer (pi-ai, 2026-11-20).
        usage_excludes_reasoning=True,
        file_parts=False,
        tool_ids="max64",
        realm="xai",
    ),
    source="pi-ai, pydantic-ai",
    checked=_CHECKED,
)

DEEPSEEK = Kind(
    name="deepseek",
    title="DeepSeek",
    format=FORMAT,
    base_url="https://api.deepseek.com/v1",
    key_variables=("DEEPSEEK_API_KEY",),
    vendor="deepseek",
    profile=Profile(
        # max_completion_tokens is ignored in silence: max_tokens only (pi-ai, 2026-11-20).
        effort_form="thinking_type",
        effort_off="disabled",
        # Assistant turns with tool calls must carry reasoning_content, else 400 "must be passed
        # back"; an empty string is accepted (cc-switch-cli #170, pi-ai, pydantic-ai).
        reasoning_in="reasoning_content",
        reasoning_placeholder="",
        # 400 "Thinking mode does not support this tool_choice" (pydantic-ai, 2026-11).
        forced_tools="not_thinking",
        # json_schema is a 400 "This response_format type is unavailable now" (pydantic-ai).
        json_schema="object",
        file_parts=False,
        # 402 is an empty balance by status alone.
        tool_ids="max64",
        realm="deepseek",
    ),
    source="vendor, pi-ai, pydantic-ai",
    checked=_CHECKED,
)

MISTRAL = Kind(
    name="mistral",
    title="Mistral",
    format=FORMAT,
    base_url="https://api.mistral.ai/v1",
    key_variables=("MISTRAL_API_KEY",),
    vendor="mistral",
    profile=Profile(
        # Unknown fields are a 422 extra_forbidden (pydantic-ai, 2026-11).
        refuses=frozenset(
            {
                "logit_bias",
                "logprobs",
                "top_logprobs",
                "store",
                "service_tier",
                "verbosity",
                "prompt_cache_key",
                "prompt_cache_retention",
                "stream_options",
                "web_search_options",
            }
        ),
        # Usage comes in the last chunk unasked; stream_options is an unknown field.
        asks_usage=False,
        seed_field="random_seed",
        dimensions_field="output_dimension",  # vendor, 2026-11
        # Exactly nine letters or digits; some models check it with code 3280 (pydantic-ai #9096).
        tool_ids="mistral9",
        # 400 code 3230 "Unexpected role 'user' after role 'tool'".
        user_after_tool=False,
        # `name` is known on tool messages only.
        drops_message_names=True,
        file_parts=False,
        temperature_max=1.5,  # vendor's API reference, not checked again today
        overflow_codes=frozenset({"3051"}),
        realm="mistral",
    ),
    source="vendor, pydantic-ai, litellm",
    checked=_CHECKED,
)

GROQ = Kind(
    name="groq",
    title="Groq",
    format=FORMAT,
    base_url="https://api.groq.com/openai/v1",
    key_variables=("GROQ_API_KEY",),
    vendor="groq",
    profile=Profile(
        token_limit_field="max_completion_tokens",  # noqa: S106 - a field's name
        # Each of these is a 400, messages[].name too (vendor's OpenAI page, 2026-11).
        refuses=frozenset({"logprobs", "top_logprobs", "logit_bias", "n"}),
        drops_message_names=True,
        # A schema does not go together with tools on some models (vendor, 2026-11).
        schema_with_tools=False,
        file_parts=False,
        # The model wrote a broken call: its fault, not the request's (vendor, 2026-11).
        model_fault_codes=frozenset({"tool_use_failed", "json_validate_failed"}),
        realm="groq",
    ),
    source="vendor",
    checked=_CHECKED,
)

MOONSHOT = Kind(
    name="moonshot",
    title="Moonshot AI",
    format=FORMAT,
    base_url="https://api.moonshot.ai/v1",
    key_variables=("MOONSHOT_API_KEY", "MOONSHOTAI_API_KEY"),
    vendor="moonshot",
    profile=Profile(
        # Text-only models want plain strings (litellm, 2026-11).
        string_content=True,
        # Tool turns need their reasoning_content back; one space is the least that is accepted
        # (litellm, 2026-11).
        reasoning_in="reasoning_content",
        reasoning_placeholder=" ",
        # tool_choice "required" is a 400 (litellm, 2026-11).
        forced_tools="never",
        strict_tools=False,  # pi-ai, 2026-11-20
        temperature_max=1.0,
        file_parts=False,
        out_of_credit=frozenset({(429, "exceeded_current_quota_error")}),
        rate_limit_codes=frozenset({"rate_limit_reached_error", "engine_overloaded_error"}),
        tool_ids="max64",
        realm="moonshot",
    ),
    source="litellm, pi-ai, pydantic-ai",
    checked=_CHECKED,
)

_ZAI_NO_BALANCE = ("1113", *(str(code) for code in range(1308, 1322)))

ZAI = Kind(
    name="zai",
    title="Z.ai",
    format=FORMAT,
    base_url="https://api.z.ai/api/paas/v4",
    key_variables=("ZAI_API_KEY", "Z_AI_API_KEY"),
    vendor="zai",
    profile=Profile(
        effort_form="thinking_type",
        effort_off="disabled",
        # Earlier thinking is kept only if told so (pydantic-ai, 2026-11).
        thinking_adds={"clear_thinking": False},
        # Arguments of tool calls are streamed only if asked (pi-ai, 2026-11-20).
        adds={"tool_stream": True},
        reasoning_in="reasoning_content",
        # tool_choice is auto only (vendor, 2026-11).
        forced_tools="never",
        json_schema="object",
        file_parts=False,
        # Codes are numbers in strings (vendor's list of codes, 2026-11).
        out_of_credit=frozenset((429, code) for code in _ZAI_NO_BALANCE),
        rate_limit_codes=frozenset({"1302", "1305"}),
        content_codes=frozenset({"1301"}),
        overflow_codes=frozenset({"1261"}),
        tool_ids="max64",
        realm="zai",
    ),
    source="vendor, pi-ai, pydantic-ai",
    checked=_CHECKED,
)

DASHSCOPE = Kind(
    name="dashscope",
    title="Alibaba Cloud Model Studio (DashScope)",
    format=FORMAT,
    base_url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    key_variables=("DASHSCOPE_API_KEY", "ALIBABA_API_KEY"),
    vendor="dashscope",
    profile=Profile(
        effort_form="enable_thinking",
        budget_field="thinking_budget",
        # file parts are a 400 (pydantic-ai, 2026-11).
        file_parts=False,
        out_of_credit=frozenset({(400, "Arrearage")}),
        content_codes=frozenset({"data_inspection_failed"}),
        tool_ids="max64",
        realm="dashscope",
    ),
    source="pydantic-ai, litellm",
    checked=_CHECKED,
)

COHERE = Kind(
    name="cohere",
    title="Cohere",
    format=FORMAT,
    base_url="https://api.cohere.ai/compatibility/v1",
    key_variables=("COHERE_API_KEY", "CO_API_KEY"),
    vendor="cohere",
    profile=Profile(
        # stream_options is refused by this endpoint (strands documentation, 2026-11).
        asks_usage=False,
        refuses=frozenset({"stream_options", "logit_bias", "top_logprobs", "n", "service_tier"}),
        # No named tool: a forced call cannot be bound to one.
        file_parts=False,
        temperature_max=1.0,
        effort_form="reasoning_effort",
        realm="cohere",
    ),
    source="vendor's compatibility page",
    checked=_CHECKED,
)

META = Kind(
    name="meta",
    title="Meta",
    format=FORMAT,
    base_url="https://api.meta.ai/v1",
    key_variables=("META_API_KEY",),
    vendor="meta",
    profile=Profile(
        # tool_choice is auto only (pydantic-ai, live, 2026-11).
        forced_tools="never",
        tool_ids="max64",
        realm="meta",
    ),
    source="pydantic-ai, pi-ai",
    checked=_CHECKED,
)

LABS = (
    OPENAI,
    AZURE_OPENAI,
    XAI,
    DEEPSEEK,
    MISTRAL,
    MOONSHOT,
    ZAI,
    DASHSCOPE,
    META,
    COHERE,
)
"""Vendors of their own models, in the order in which they are found in the environment."""

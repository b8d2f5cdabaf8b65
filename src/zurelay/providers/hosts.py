"""Hosts of other labs' models that speak the OpenAI Chat Completions format: one row each.

Like `compatible`, data alone. Hosts whose catalogue is not ours are asked for their own list.
"""

from zurelay.chat.profile import Profile
from zurelay.providers.base import Kind
from zurelay.providers.compatible import FORMAT, GROQ

_CHECKED = "2026-11-29"

OPENROUTER = Kind(
    name="openrouter",
    title="OpenRouter",
    format=FORMAT,
    base_url="https://openrouter.ai/api/v1",
    key_variables=("OPENROUTER_API_KEY",),
    vendor="openrouter",
    profile=Profile(
        # {"reasoning": {"effort"}}; it finds the model's nearest level itself (vendor, 2026-11).
        effort_form="reasoning_object",
        reasoning_in="reasoning_details",
        # Its codes are HTTP numbers; 403 says that the input was flagged (vendor, 2026-11).
        content_codes=frozenset({"403"}),
        # It passes breakpoints on (vendor's page on prompt caching, 2026-11).
        cache_marks="cache_control",
        realm="openrouter",
    ),
    source="vendor's pages on errors and streaming",
    checked=_CHECKED,
)

TOGETHER = Kind(
    name="together",
    title="Together AI",
    format=FORMAT,
    base_url="https://api.together.xyz/v1",
    key_variables=("TOGETHER_API_KEY", "TOGETHER_AI_API_KEY"),
    vendor="together",
    profile=Profile(
        effort_form="reasoning_enabled",  # pi-ai, 2026-11-20
        reasoning_in="reasoning",
        strict_tools=False,  # pi-ai, 2026-11-20
        file_parts=False,
        realm="together",
    ),
    source="pi-ai, pydantic-ai",
    checked=_CHECKED,
)

FIREWORKS = Kind(
    name="fireworks",
    title="Fireworks AI",
    format=FORMAT,
    base_url="https://api.fireworks.ai/inference/v1",
    key_variables=("FIREWORKS_API_KEY",),
    vendor="fireworks",
    profile=Profile(
        refuses=frozenset({"store"}),  # pi-ai, 2026-11-20
        reasoning_in="reasoning_content",
        schema_with_tools=False,  # litellm, 2026-11
        file_parts=False,
        realm="fireworks",
    ),
    source="pi-ai, litellm",
    checked=_CHECKED,
)

CEREBRAS = Kind(
    name="cerebras",
    title="Cerebras",
    format=FORMAT,
    base_url="https://api.cerebras.ai/v1",
    key_variables=("CEREBRAS_API_KEY",),
    vendor="cerebras",
    profile=Profile(
        token_limit_field="max_completion_tokens",  # noqa: S106 - a field's name
        # Checked (100 entries at most), never applied (pydantic-ai, live, 2026-11).
        refuses=frozenset({"logit_bias"}),
        reasoning_in="reasoning",
        file_parts=False,
        realm="cerebras",
    ),
    source="pydantic-ai",
    checked=_CHECKED,
)

VERCEL = Kind(
    name="vercel",
    title="Vercel AI Gateway",
    format=FORMAT,
    base_url="https://ai-gateway.vercel.sh/v1",
    key_variables=("AI_GATEWAY_API_KEY", "VERCEL_AI_GATEWAY_API_KEY"),
    vendor=None,
    lists_models=True,
    profile=Profile(
        effort_form="reasoning_object",
        reasoning_in="reasoning_details",
        realm="vercel",
    ),
    source="pydantic-ai, pi-ai",
    checked=_CHECKED,
)

BASETEN = Kind(
    name="baseten",
    title="Baseten",
    format=FORMAT,
    base_url="https://inference.baseten.co/v1",
    key_variables=("BASETEN_API_KEY",),
    vendor="baseten",
    profile=Profile(reasoning_in="reasoning_content", file_parts=False, realm="baseten"),
    source="pi-ai, litellm",
    checked=_CHECKED,
)

DEEPINFRA = Kind(
    name="deepinfra",
    title="DeepInfra",
    format=FORMAT,
    base_url="https://api.deepinfra.com/v1/openai",
    key_variables=("DEEPINFRA_API_KEY", "DEEPINFRA_TOKEN"),
    lists_models=True,
    # `none` is its default; every word is taken (oh-my-pi #9522).
    profile=Profile(reasoning_in="reasoning_content", file_parts=False, realm="deepinfra"),
    source="litellm",
    checked=_CHECKED,
)

NVIDIA = Kind(
    name="nvidia",
    title="NVIDIA NIM",
    format=FORMAT,
    base_url="https://integrate.api.nvidia.com/v1",
    key_variables=("NVIDIA_API_KEY", "NVIDIA_NIM_API_KEY"),
    lists_models=True,
    profile=Profile(
        effort_form="template_kwargs",  # pi-ai, 2026-11-20
        string_content=True,
        strict_tools=False,
        file_parts=False,
        realm="nvidia",
    ),
    source="pi-ai, litellm",
    checked=_CHECKED,
)

HUGGINGFACE = Kind(
    name="huggingface",
    title="Hugging Face router",
    format=FORMAT,
    base_url="https://router.huggingface.co/v1",
    # HF_TOKEN is on many machines for downloads alone: this provider is never set up unasked.
    key_variables=(),
    lists_models=True,
    profile=Profile(strict_tools=False, file_parts=False, realm="huggingface"),
    source="pi-ai, litellm",
    checked=_CHECKED,
)

HOSTS = (
    GROQ,
    CEREBRAS,
    TOGETHER,
    FIREWORKS,
    BASETEN,
    OPENROUTER,
    VERCEL,
    DEEPINFRA,
    NVIDIA,
    HUGGINGFACE,
)
"""In the order in which they are found in the environment: single hosts before resellers."""

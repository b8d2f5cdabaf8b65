"""Vendors that speak Anthropic's Messages format: one row of data each.

Quirks of single models stand in the catalogue. Sources: `vendor` the vendor's API reference,
`pi-ai` @earendil-works/pi-ai 1.6.0, `pydantic-ai` 2.68.0.
"""

from zurelay.chat.profile import Profile
from zurelay.providers.base import Kind

FORMAT = "anthropic"

ANTHROPIC = Kind(
    name="anthropic",
    title="Anthropic",
    format=FORMAT,
    base_url="https://api.anthropic.com",
    key_variables=("ANTHROPIC_API_KEY",),
    auth="x-api-key",
    vendor="anthropic",
    profile=Profile(
        token_limit_field="max_tokens",  # noqa: S106 - a field's name
        effort_form="claude_effort",
        # Of a model that the catalogue does not know nothing is asked unasked, and thinking that
        # is asked for in Messages' own words goes as it is.
        effort_off="omit",
        budget_field="thinking.budget_tokens",
        temperature_max=1.0,
        # Thinking takes no other temperature than 1, no top_k (vendor's page on thinking, 2026-11).
        refuses_while_thinking=frozenset({"temperature", "top_p", "top_k"}),
        # A last turn of the assistant's is a 400 from Opus 4.6 and Sonnet 4.6 on (vendor, 2026-11).
        prefill=False,
        tool_ids="max64",
        # Signed thinking holds on the Claude API, Bedrock, Vertex and Foundry alike (vendor).
        realm="anthropic",
    ),
    source="vendor, pi-ai, pydantic-ai",
    checked="2026-11-29",
)

MESSAGES = (ANTHROPIC,)
"""Vendors of this format, in the order in which they are found in the environment."""

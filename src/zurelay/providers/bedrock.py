"""Amazon Bedrock: one row of data.

Models of many labs behind one format. Sources: `vendor` the vendor's API reference and service
model, `litellm` 1.110.2.
"""

from zurelay.chat.profile import Profile
from zurelay.providers.base import Kind

FORMAT = "converse"
HOST = "https://bedrock-runtime.{region}.{site}"
"""Its address in a region; `site` differs between the world and China."""

BEDROCK = Kind(
    name="bedrock",
    title="Amazon Bedrock",
    format=FORMAT,
    # Every region has its own: see `address`.
    base_url="",
    key_variables=("AWS_BEARER_TOKEN_BEDROCK",),
    # Keys of an account sign instead.
    key_required=False,
    aws_service="bedrock",
    vendor="bedrock",
    # Claude is reached in its own format, so that nothing is lost on the way.
    runs_models_of="anthropic",
    runs_in="bedrock_invoke",
    profile=Profile(
        temperature_max=1.0,  # vendor's service model, 2026-11-29
        # Nothing is fetched: content is sent as bytes.
        image_urls=False,
        # A last turn of the assistant's is refused by most models; Claude's entries say otherwise.
        prefill=False,
        tool_ids="max64",
        realm="bedrock",
    ),
    source="vendor, litellm",
    checked="2026-11-29",
)


def address(region: str) -> str:
    """Where Bedrock is reached in `region`, such as `eu-central-1`."""
    site = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return HOST.format(region=region, site=site)

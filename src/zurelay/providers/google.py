"""Google's two ways to its models: the Gemini API (AI Studio) and Vertex AI, one row each.

Here stand also the things that only Google's cloud has: service accounts and regional addresses.
Sources: `vendor` the vendor's API reference, `pydantic-ai` 2.68.0, `litellm` 1.110.2.
"""

import re

from zurelay.chat.profile import Profile
from zurelay.providers.base import Kind, ServiceAccount
from zurelay.wire import json

FORMAT = "gemini"
_CHECKED = "2026-11-29"

PROJECT = re.compile(r"[a-z][a-z0-9.:-]{1,98}[a-z0-9]")
"""Ids of projects; old ones have a domain before a colon."""

LOCATION = re.compile(r"[a-z][a-z0-9-]{1,38}[a-z0-9]")

_PROFILE = Profile(
    effort_form="gemini_level",
    # The first call of a turn needs a signature, even at the lowest level, else a 400; this one,
    # in base64, says that there is none to check (vendor's page on thought signatures, 2026-11).
    reasoning_placeholder="c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=",
    stop_limit=5,
    # Models from 2.5 on answer penalties with a 400 (pydantic-ai, 2026-11).
    refuses=frozenset({"presence_penalty", "frequency_penalty"}),
    # What stands by URL is fetched here: only newer models fetch it themselves (vendor, 2026-11).
    image_urls=False,
)

GEMINI = Kind(
    name="gemini",
    title="Google Gemini",
    format=FORMAT,
    base_url="https://generativelanguage.googleapis.com/v1beta",
    key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    auth="x-goog-api-key",
    vendor="google",
    # Signatures of the two services are "corrupted" to one another (pydantic-ai, 2026-11).
    profile=_PROFILE.but(realm="google-ai-studio"),
    source="vendor, pydantic-ai, litellm",
    checked=_CHECKED,
)

VERTEX = Kind(
    name="vertex",
    title="Google Vertex AI",
    format=FORMAT,
    # https://LOCATION-aiplatform.googleapis.com/v1/projects/...: see `vertex_address`.
    base_url="",
    # Keys of its express mode; accounts with a project use a service account instead.
    auth="x-goog-api-key",
    key_required=False,
    vendor="google",
    # Claude is reached in its own format, where `routes` name it.
    runs_models_of="anthropic",
    runs_in="vertex_messages",
    profile=_PROFILE.but(
        realm="google-vertex",
        path_prefix="/publishers/google",
        # 'Unknown name "id" at ... function_call', a 400 (vercel/ai #15664, pydantic-ai #5081).
        call_ids=False,
    ),
    source="vendor, pydantic-ai, litellm",
    checked=_CHECKED,
)

GOOGLE = (GEMINI, VERTEX)
"""Google's kinds, in the order in which they are found in the environment."""

HOST = "https://aiplatform.googleapis.com"


def vertex_address(project: str, location: str, base_url: str = "") -> str:
    """Where a project's models are reached; `base_url` stands in for the usual host.

    `global` has no region in its host, `us` and `eu` are multi-regions (vendor, 2026-11-29).
    """
    host = base_url or f"https://{location}-aiplatform.googleapis.com"
    if not base_url and location == "global":
        host = HOST
    elif not base_url and location in ("us", "eu"):
        host = f"https://aiplatform.{location}.rep.googleapis.com"
    return f"{host}/v1/projects/{project}/locations/{location}"


def service_account(text: str) -> ServiceAccount:
    """The account in a service account's key file.

    Raises:
        ValueError: it is none; says why, without what it holds.
    """
    try:
        found = json.decode(text.encode("utf-8", "replace"))
    except json.BadJson:
        raise ValueError("it is no JSON") from None
    if not isinstance(found, dict) or found.get("type") != "service_account":
        raise ValueError('it has no "type": "service_account"')
    needed = ("client_email", "private_key", "token_uri")
    for name in needed:
        if not isinstance(found.get(name), str) or not found[name]:
            raise ValueError(f'"{name}" is missing in it')
    if not found["token_uri"].startswith(("https://", "http://")):
        raise ValueError('"token_uri" in it is no address')
    if "PRIVATE KEY-----" not in found["private_key"]:
        raise ValueError('"private_key" in it is no PEM key')
    return ServiceAccount(
        email=found["client_email"],
        private_key=found["private_key"],
        key_id=str(found.get("private_key_id") or ""),
        token_uri=found["token_uri"],
        project=str(found.get("project_id") or ""),
    )

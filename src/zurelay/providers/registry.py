"""Every kind of provider this program knows: one explicit list.

A new vendor is a row in one of the files named here, and nothing else.
"""

from collections.abc import Mapping
from types import MappingProxyType

from zurelay.chat.profile import Profile
from zurelay.providers.anthropic import MESSAGES
from zurelay.providers.base import Kind
from zurelay.providers.bedrock import BEDROCK
from zurelay.providers.compatible import FORMAT, LABS
from zurelay.providers.google import GOOGLE
from zurelay.providers.hosts import HOSTS
from zurelay.providers.selfhosted import SELF_HOSTED

SANDBOX = Kind(
    name="sandbox",
    title="Sandbox",
    format=FORMAT,
    # Inside the process: its address is given by whoever starts it.
    base_url="",
    auth="none",
    key_required=False,
    vendor="sandbox",
    hosted=False,
    profile=Profile(developer_role=True, realm="sandbox"),
    source="this program",
    checked="2026-11-29",
)

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (*MESSAGES, *LABS, *GOOGLE, BEDROCK, *HOSTS, *SELF_HOSTED, SANDBOX)
    }
)
"""All kinds by name, in the order in which they are found in the environment."""

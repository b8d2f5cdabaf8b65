"""What a provider is: a kind (a row of data) and an account of it (address and credential).

Three axes stay apart: the wire format, the address and authentication, and the quirks.
"""

from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from zurelay.chat.profile import Profile

Auth = Literal["bearer", "api-key", "x-api-key", "x-goog-api-key", "none"]


@dataclass(frozen=True, slots=True)
class Kind:
    """All that accounts at one vendor share.

    Attributes:
        name: the word in `kind = "..."`.
        title: the vendor's own spelling.
        format: name of the back format it speaks.
        also: back formats that it speaks besides, for what the first one lacks.
        base_url: default address, without a trailing slash; empty if the operator must give one.
        key_variables: environment variables in which a key is looked for, first match wins.
        auth: how the key is sent.
        key_required: whether calls without a key are pointless.
        vendor: whose models of the catalogue it serves; None if it has none there.
        runs_models_of: another vendor whose models it runs under the operator's own names: their
            quirks hold here too.
        runs_in: the back format that reaches those models; empty if its own does.
        lists_models: it serves its own `/models` list (self-hosted servers).
        hosted: a vendor on the internet; False for servers inside the operator's network.
        aws_service: the name AWS signs its requests by; empty for all other vendors.
        profile: its quirks.
        source: where the facts come from.
        checked: date of the last check, ISO.
    """

    name: str
    title: str
    format: str
    base_url: str
    key_variables: tuple[str, ...] = ()
    auth: Auth = "bearer"
    key_required: bool = True
    vendor: str | None = None
    runs_models_of: str | None = None
    runs_in: str = ""
    lists_models: bool = False
    hosted: bool = True
    also: tuple[str, ...] = ()
    aws_service: str = ""
    profile: Profile = field(default_factory=Profile)
    source: str = ""
    checked: str = ""


@dataclass(frozen=True, slots=True)
class AwsCredential:
    """Who signs requests to AWS, and for which region.

    `session_token` goes with temporary keys; empty for lasting ones.
    """

    access_key_id: str
    secret_access_key: str = field(repr=False)
    region: str
    session_token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    """Who asks Google for access tokens.

    Attributes:
        email: its name.
        private_key: PEM; signs what asks for a token.
        key_id: which of its keys that is; empty if unknown.
        token_uri: where tokens are given out.
        project: the project it belongs to; empty if unknown.
    """

    email: str
    private_key: str = field(repr=False)
    key_id: str
    token_uri: str
    project: str


@dataclass(frozen=True, slots=True)
class Provider:
    """One configured account at a vendor.

    Attributes:
        name: the table's name in the configuration.
        kind: its row.
        base_url: where it is reached, without a trailing slash.
        api_keys: credentials, the first in use; empty when none is needed.
        label: what callers may see of it.
        max_concurrency: attempts under way at once, None for no bound.
        single_tenant: all who use the gateway may read whatever is stored in the account there.
        headers: further headers the operator wants sent.
        aws: what requests are signed with, where no key is sent instead.
        service_account: what asks for the token that is sent, where no key is.
    """

    name: str
    kind: Kind
    base_url: str
    api_keys: tuple[str, ...] = field(default=(), repr=False)
    label: str = ""
    max_concurrency: int | None = None
    single_tenant: bool = False
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    aws: AwsCredential | None = None
    service_account: ServiceAccount | None = None

    @property
    def hosted(self) -> bool:
        """Whether it is reached at its vendor on the internet, not at an address of one's own."""
        if not self.kind.hosted:
            return False
        return not self.kind.base_url or _site(self.base_url) == _site(self.kind.base_url)

    @property
    def credentials(self) -> tuple[object, ...]:
        """All that says who is asking; equal as long as nobody else asks."""
        return (self.api_keys, self.aws, self.service_account)

    def auth_headers(self) -> tuple[tuple[str, str], ...]:
        """The headers that carry the credential."""
        if not self.api_keys or self.kind.auth == "none":
            return self.headers
        if self.kind.auth != "bearer":
            return ((self.kind.auth, self.api_keys[0]), *self.headers)
        return (("authorization", f"Bearer {self.api_keys[0]}"), *self.headers)


def _site(url: str) -> str:
    """The last two labels of a URL's host: what one vendor's regions have in common."""
    return ".".join((urlsplit(url).hostname or "").split(".")[-2:])

"""Admin tokens: who may see and run the gateway itself, beside the keys that may use its models.

A token is `zka-` and otherwise made like an API key; only its hash and last four characters are
kept. Neither opens what the other is for. Nothing here knows a clock, a store or randomness.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from zurelay.access.keys import ADMIN_PREFIX, PREFIX, make_key, well_formed
from zurelay.chat.problems import Problem, Refused, invalid_key

Role = Literal["owner", "admin", "member", "read-only"]
ROLES: tuple[Role, ...] = get_args(Role)

_READING = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class AdminToken:
    """An admin token as the gateway knows it.

    Attributes:
        id: `tok_...`.
        name: whose it is, for people.
        role: what it may do; a `read-only` one changes nothing, a `member` one belongs to an
            account.
        hash: SHA-256 of its text.
        last4: the last four characters of its text.
        created, revoked: Unix seconds.
        account: id of the one account it may see and change; None for all.
    """

    id: str
    name: str
    role: Role
    hash: bytes
    last4: str
    created: int
    revoked: int | None = None
    account: str | None = None

    def may(self, method: str) -> bool:
        """Whether it may make a call with that HTTP method."""
        return self.role != "read-only" or method in _READING


def make_token(random: bytes) -> str:
    """The text of a new token from 32 random bytes."""
    return make_key(random, ADMIN_PREFIX)


def is_token(text: str) -> bool:
    """Whether it has the form of a token and its checksum is right."""
    return well_formed(text, ADMIN_PREFIX)


def parse_bearer(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The token a call shows by `authorization: Bearer`, as text.

    Raises:
        Refused: 401 when there is none, or what is there cannot be one. The message never holds
            what was sent.
    """
    shown = {value.strip() for name, value in headers if name.lower() == b"authorization"}
    if len(shown) != 1:
        raise Refused(invalid_key(_WANTED))
    scheme, _, token = shown.pop().partition(b" ")
    if scheme.lower() != b"bearer":
        raise Refused(invalid_key(_WANTED))
    text = token.strip().decode("utf-8", "surrogateescape")
    if not is_token(text):
        raise refused_token(text, None)
    return text


def refused_token(text: str, token: AdminToken | None) -> Refused:
    """The 401 for a token that does not work; says why without repeating it."""
    if token is not None:
        return Refused(invalid_key("This admin token has been revoked."))
    if text.startswith(PREFIX):
        return Refused(invalid_key("This is an API key; here an admin token (zka-...) is wanted."))
    if not text.startswith(ADMIN_PREFIX):
        return Refused(invalid_key(_WANTED))
    if not is_token(text):
        return Refused(
            invalid_key("The admin token is mistyped or cut off: its checksum is wrong.")
        )
    return Refused(invalid_key("The admin token is unknown here."))


def not_allowed(token: AdminToken) -> Refused:
    """The 403 for a call that the token's role does not allow."""
    return Refused(
        Problem(
            403, "permission_error", "not_allowed", f"A {token.role} admin token may not do this."
        )
    )


_WANTED = (
    "An admin token is wanted: 'Authorization: Bearer zka-...'. Make one with"
    " 'zurelay tokens create NAME'."
)

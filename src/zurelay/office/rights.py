"""Who acts, and what each role may do.

An actor may be confined to one account: then others do not exist for it. Knows no use case.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from zurelay.access.tokens import AdminToken, Role
from zurelay.chat.problems import Problem, Refused, not_found

Right = Literal[
    "accounts.read",
    "accounts.change",
    "members.read",
    "members.change",
    "keys.read",
    "keys.change",
    "money.read",
    "money.change",
    "prices.read",
    "prices.change",
    "stops.read",
    "stops.change",
    "usage.read",
    "providers.read",
    "requests.read",
    "content.read",
    "audit.read",
    "tokens.read",
    "tokens.change",
    "support.read",
    "support.write",
    "alerts.read",
    "alerts.change",
    "personal.export",
    "personal.erase",
]

_READING: frozenset[Right] = frozenset(
    {
        "accounts.read",
        "members.read",
        "keys.read",
        "money.read",
        "alerts.read",
        "usage.read",
        "requests.read",
        "audit.read",
        "support.read",
    }
)
_RUNNING: frozenset[Right] = frozenset(
    {
        "accounts.change",
        "members.change",
        "keys.change",
        "money.change",
        "alerts.change",
        "prices.read",
        "prices.change",
        "providers.read",
        "stops.read",
        "stops.change",
        "tokens.read",
        "support.write",
    }
)

RIGHTS: dict[Role, frozenset[Right]] = {
    "owner": frozenset(get_args(Right)),
    "admin": _READING | _RUNNING | {"content.read"},
    "member": _READING | {"content.read", "keys.change", "alerts.change", "support.write"},
    "read-only": _READING | {"prices.read", "providers.read", "stops.read", "tokens.read"},
}
"""What each role may do. Owners alone hand out roles and handle personal data."""

_EVERYWHERE: frozenset[Right] = frozenset(
    {
        "prices.read",
        "prices.change",
        "providers.read",
        "stops.read",
        "stops.change",
        "tokens.read",
        "tokens.change",
    }
)
"""What concerns the whole gateway: nothing for an actor of one account."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does something.

    Attributes:
        name: as the audit log has it, such as `token:ci` or `cli:alice`.
        role: what it may do.
        account: id of the one account it sees; None for all.
    """

    name: str
    role: Role
    account: str | None = None

    def may(self, right: Right) -> bool:
        """Whether its role has that right, where it acts."""
        confined = self.account is not None and right in _EVERYWHERE
        return right in RIGHTS[self.role] and not confined

    @property
    def sees_markups(self) -> bool:
        """Whether it is told mark-ups: who knows them and the price knows what operators pay."""
        return self.may("prices.read")

    def needs(self, right: Right) -> None:
        """Go no further without that right. Raises Refused: 403."""
        if not self.may(right):
            raise Refused(_not_allowed(self.role))

    def sees(self, account: str | None) -> bool:
        """Whether what belongs to that account, or to none, exists for it."""
        return self.account is None or self.account == account

    def scope(self, account: str | None) -> str | None:
        """The account whose things it is shown, when it asks for those of `account` or of all.

        Raises:
            Refused: 404 for an account that it may not see.
        """
        if account is not None and not self.sees(account):
            raise Refused(not_found(f"There is no account '{account}'."))
        return account if self.account is None else self.account


def actor_of(token: AdminToken) -> Actor:
    """Who acts when that admin token is shown."""
    return Actor(f"token:{token.name} ({token.id})", token.role, token.account)


def _not_allowed(role: Role) -> Problem:
    return Problem(403, "permission_error", "not_allowed", f"The role '{role}' may not do this.")

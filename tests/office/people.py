"""Who acts in tests of the office, and how a refusal is looked at."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.store.rows import ACCOUNT, NOON
from zurelay.chat.problems import Problem, Refused
from zurelay.office.audit import AuditView, list_audit
from zurelay.office.desk import Desk
from zurelay.office.pages import Page
from zurelay.office.rights import Actor

__all__ = [
    "ACCOUNT",
    "ADMIN",
    "MEMBER",
    "NOON",
    "OWNER",
    "READER",
    "STRANGER",
    "audited",
    "refusal",
]

OWNER = Actor("cli:olga", "owner")
ADMIN = Actor("token:ci", "admin")
READER = Actor("token:watch", "read-only")
MEMBER = Actor("token:team", "member", ACCOUNT.id)
STRANGER = Actor("token:other", "member", "acct_other")


def refusal(call: Callable[..., Any], *arguments: Any, **named: Any) -> Problem:
    """What whoever calls is told."""
    with pytest.raises(Refused) as found:
        call(*arguments, **named)
    return found.value.problem


def audited(desk: Desk) -> list[AuditView]:
    """The whole audit log, oldest first."""
    return list_audit(desk, OWNER, Page(500)).data[::-1]

from typing import get_args

import pytest

from tests.office.people import ADMIN, MEMBER, OWNER, READER, refusal
from zurelay.access.tokens import ROLES, AdminToken, Role
from zurelay.office.rights import RIGHTS, Actor, Right, actor_of

CHANGES = {right for right in get_args(Right) if not right.endswith(".read")}


def test_every_role_has_its_rights_and_owners_have_all() -> None:
    assert set(RIGHTS) == set(ROLES)
    assert RIGHTS["owner"] == set(get_args(Right))
    assert RIGHTS["admin"] - RIGHTS["read-only"]
    assert not RIGHTS["read-only"] & CHANGES
    assert RIGHTS["member"] & CHANGES == {"keys.change", "alerts.change", "support.write"}
    assert not RIGHTS["admin"] & {"tokens.change", "personal.erase", "personal.export"}


def test_a_role_without_a_right_is_refused() -> None:
    OWNER.needs("personal.erase")
    problem = refusal(ADMIN.needs, "personal.erase")
    assert (problem.status, problem.code) == (403, "not_allowed")
    assert "admin" in problem.message
    assert refusal(READER.needs, "keys.change").status == 403


@pytest.mark.parametrize("role", ROLES)
def test_an_actor_of_one_account_touches_nothing_of_the_whole_gateway(role: Role) -> None:
    confined = Actor("x", role, "acct_1")
    assert not any(
        confined.may(right)
        for right in ("prices.read", "prices.change", "providers.read", "tokens.change")
    )
    assert confined.may("usage.read")


def test_an_actor_of_one_account_does_not_learn_of_others() -> None:
    assert MEMBER.sees("acct_1")
    assert not MEMBER.sees("acct_2")
    assert not MEMBER.sees(None)
    assert OWNER.sees(None)
    assert MEMBER.scope(None) == "acct_1"
    assert MEMBER.scope("acct_1") == "acct_1"
    assert OWNER.scope(None) is None
    assert OWNER.scope("acct_2") == "acct_2"
    assert refusal(MEMBER.scope, "acct_2").status == 404


def test_a_token_acts_by_its_name_and_id() -> None:
    token = AdminToken("tok_1", "ci", "member", b"h", "abcd", 1, account="acct_1")
    assert actor_of(token) == Actor("token:ci (tok_1)", "member", "acct_1")


def test_mark_ups_are_for_whoever_may_see_prices_of_the_whole_gateway() -> None:
    assert [one.sees_markups for one in (OWNER, ADMIN, READER, MEMBER)] == [True, True, True, False]
    assert not Actor("x", "read-only", "acct_1").sees_markups

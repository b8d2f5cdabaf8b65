import pytest

from tests.office.people import ACCOUNT, ADMIN, MEMBER, OWNER, READER, audited, refusal
from zurelay.access.tokens import is_token
from zurelay.office.desk import Desk
from zurelay.office.tokens import NewToken, create_token, list_tokens, revoke_token


def test_a_token_is_shown_once_and_can_be_revoked(desk: Desk) -> None:
    made = create_token(desk, OWNER, NewToken("ci", "read-only"))
    assert is_token(made.token)
    assert list_tokens(desk, ADMIN) == [made.details]
    assert (made.details.role, made.details.state) == ("read-only", "live")
    assert revoke_token(desk, OWNER, "ci").state == "revoked"
    revoke_token(desk, OWNER, made.details.id)
    assert [line.action for line in audited(desk)] == ["token.create", "token.revoke"]
    assert made.token not in str(audited(desk))
    assert refusal(revoke_token, desk, OWNER, "nothing").status == 404


def test_a_members_token_belongs_to_an_account_and_an_admins_to_none(desk: Desk) -> None:
    made = create_token(desk, OWNER, NewToken("team", "member", "default"))
    assert made.details.account == ACCOUNT.id
    assert create_token(desk, OWNER, NewToken("x", "read-only", "default")).details.account
    for form, param in (
        (NewToken("a", "member"), "account"),
        (NewToken("a", "admin", "default"), "role"),
        (NewToken(" "), "name"),
    ):
        assert refusal(create_token, desk, OWNER, form).param == param
    assert refusal(create_token, desk, OWNER, NewToken("a", "member", "x")).status == 404


@pytest.mark.parametrize("actor", [ADMIN, READER, MEMBER])
def test_only_owners_hand_out_tokens(desk: Desk, actor: object) -> None:
    assert refusal(create_token, desk, actor, NewToken("a")).status == 403
    assert refusal(revoke_token, desk, actor, "a").status == 403


def test_a_member_does_not_see_the_tokens(desk: Desk) -> None:
    assert refusal(list_tokens, desk, MEMBER).status == 403

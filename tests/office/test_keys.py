from pathlib import Path

import pytest

from tests.office.people import ACCOUNT, ADMIN, MEMBER, OWNER, READER, STRANGER, audited, refusal
from tests.store.rows import Clock
from zurelay.access.keys import by_hash, hash_key, well_formed
from zurelay.office import values as v
from zurelay.office.accounts import NewAccount, create_account
from zurelay.office.desk import Desk
from zurelay.office.keys import (
    KeyChange,
    NewKey,
    change_key,
    create_key,
    get_key,
    list_keys,
    revoke_key,
    rotate_key,
)
from zurelay.office.pages import Page
from zurelay.store import keys as rows

ALL = NewKey(
    "alice",
    models=["gpt-6", "sandbox/*", "gpt-6"],
    budget=v.BudgetForm("5", "day"),
    rpm=1,
    tpm=2**40,
    concurrency=3,
    expires="2027-01-31",
    markup="1.5",
)


def opens(desk: Desk, text: str) -> str | None:
    """The state of the key that this text opens."""
    with desk.store.read() as connection:
        found = by_hash(rows.list_keys(connection)).get(hash_key(text))
    return None if found is None else found.state(desk.clock())


def test_a_key_is_shown_once_and_comes_back_without_its_text(desk: Desk, tmp_path: Path) -> None:
    made = create_key(desk, ADMIN, ALL)
    assert well_formed(made.key)
    assert opens(desk, made.key) == "live"
    found = get_key(desk, READER, "alice")
    assert found == made.details == get_key(desk, READER, made.details.id)
    assert found.models == ["gpt-6", "sandbox/*"]
    assert (found.expires, found.last4, found.state) == ("2027-01-31", made.key[-4:], "live")
    assert (found.spent_usd, found.remaining_usd, found.account_name) == ("0", "5", "default")
    secret = made.key[3:-6]
    assert secret not in str(audited(desk))
    assert not any(secret.encode() in file.read_bytes() for file in (tmp_path / "data").iterdir())


def test_a_key_for_no_account_makes_one_only_where_that_is_asked(desk: Desk) -> None:
    problem = refusal(create_key, desk, ADMIN, NewKey("a", account="team"))
    assert (problem.status, problem.param) == (400, "account")
    made = create_key(desk, ADMIN, NewKey("a", account="team"), make_account=True)
    assert made.details.account_name == "team"
    assert [line.action for line in audited(desk)] == ["account.create", "key.create"]


def test_limits_change_one_by_one_and_the_log_tells_what(desk: Desk) -> None:
    made = create_key(desk, ADMIN, ALL).details
    changed = change_key(desk, ADMIN, made.id, KeyChange(rpm=None, models=["a"], expires=None))
    assert (changed.rpm, changed.models, changed.expires, changed.tpm) == (None, ["a"], None, 2**40)
    assert audited(desk)[-1].detail == {
        "rpm": [1, None],
        "models": [["gpt-6", "sandbox/*"], ["a"]],
        "expires": ["2027-01-31", None],
    }
    form = KeyChange(name="bob", budget=None, markup=None, tpm=None, concurrency=None, models=None)
    bare = change_key(desk, ADMIN, made.id, form)
    assert (bare.name, bare.budget, bare.markup, bare.models) == ("bob", None, None, None)
    lines = len(audited(desk))
    assert change_key(desk, ADMIN, made.id, KeyChange()) == bare
    assert len(audited(desk)) == lines


def test_a_revoked_key_is_dead_for_ever(desk: Desk) -> None:
    made = create_key(desk, ADMIN, ALL)
    assert revoke_key(desk, ADMIN, "alice").state == "revoked"
    assert opens(desk, made.key) == "revoked"
    revoke_key(desk, ADMIN, "alice")
    assert [line.action for line in audited(desk)] == ["key.create", "key.revoke"]
    for call, *rest in ((change_key, KeyChange(rpm=1)), (rotate_key,)):
        assert refusal(call, desk, ADMIN, "alice", *rest).status == 409


def test_a_renewed_key_stays_itself_and_its_old_text_works_for_a_while(
    desk: Desk, clock: Clock
) -> None:
    made = create_key(desk, ADMIN, ALL)
    new = rotate_key(desk, ADMIN, "alice", 3600)
    assert new.key != made.key
    assert new.details.id == made.details.id
    assert new.details.old_text_until == "2026-11-29T13:00:00Z"
    assert (opens(desk, made.key), opens(desk, new.key)) == ("live", "live")
    assert refusal(rotate_key, desk, ADMIN, "alice").status == 409
    clock.now += 3600
    assert (opens(desk, made.key), opens(desk, new.key)) == ("expired", "live")
    assert get_key(desk, ADMIN, "alice").old_text_until is None
    assert new.key not in str(audited(desk))


def test_a_leaked_key_is_renewed_without_an_overlap(desk: Desk) -> None:
    first = create_key(desk, ADMIN, ALL).key
    second = rotate_key(desk, ADMIN, "alice", 3600).key
    third = rotate_key(desk, ADMIN, "alice", 0).key
    assert [opens(desk, text) for text in (first, second, third)] == [None, None, "live"]


def test_keys_are_listed_in_pages_and_by_account(desk: Desk) -> None:
    create_account(desk, ADMIN, NewAccount("team"))
    for n in range(3):
        create_key(desk, ADMIN, NewKey(f"k{n}"))
    create_key(desk, ADMIN, NewKey("other", account="team"))
    first = list_keys(desk, READER, Page(3))
    rest = list_keys(desk, READER, Page(3, first.next_cursor))
    assert len(first.data) == 3
    assert sorted(key.name for key in first.data + rest.data) == ["k0", "k1", "k2", "other"]
    assert [key.name for key in list_keys(desk, READER, Page(), "team").data] == ["other"]
    assert refusal(list_keys, desk, READER, Page(), "nobody").status == 404


def test_a_member_makes_and_changes_keys_of_its_own_account_alone(desk: Desk) -> None:
    create_account(desk, ADMIN, NewAccount("team"))
    create_key(desk, ADMIN, NewKey("theirs", account="team"))
    made = create_key(desk, MEMBER, NewKey("mine", account=ACCOUNT.id)).details
    assert made.account == ACCOUNT.id
    assert [key.name for key in list_keys(desk, MEMBER, Page()).data] == ["mine"]
    assert rotate_key(desk, MEMBER, "mine").details.id == made.id
    assert revoke_key(desk, MEMBER, made.id).state == "revoked"
    for call, *rest in (
        (get_key,),
        (change_key, KeyChange(rpm=1)),
        (revoke_key,),
        (rotate_key,),
    ):
        assert refusal(call, desk, MEMBER, "theirs", *rest).status == 404
    assert refusal(create_key, desk, MEMBER, NewKey("x", account="team")).param == "account"
    unknown = refusal(create_key, desk, MEMBER, NewKey("x", account="nobody"), make_account=True)
    assert unknown.status in (400, 403)
    assert refusal(list_keys, desk, MEMBER, Page(), "team").status == 404
    assert refusal(get_key, desk, STRANGER, "nothing").message == "There is no key 'nothing'."


def test_a_member_makes_limits_narrower_and_not_wider(desk: Desk) -> None:
    create_key(desk, ADMIN, NewKey("k", budget=v.BudgetForm("5", "day"), rpm=5, models=["a"]))
    narrow = KeyChange(budget=v.BudgetForm("4", "day"), rpm=4, models=[], tpm=9, name="mine")
    changed = change_key(desk, MEMBER, "k", narrow)
    assert (changed.rpm, changed.tpm, changed.models, changed.name) == (4, 9, [], "mine")
    before = get_key(desk, ADMIN, "mine")
    for form, param in (
        (KeyChange(budget=v.BudgetForm("5", "day")), "budget"),
        (KeyChange(budget=None), "budget"),
        (KeyChange(rpm=None), "rpm"),
        (KeyChange(models=None), "models"),
        (KeyChange(name="x", tpm=10), "tpm"),
    ):
        problem = refusal(change_key, desk, MEMBER, "mine", form)
        assert (problem.status, problem.param) == (403, param)
    assert get_key(desk, ADMIN, "mine") == before
    assert change_key(desk, ADMIN, "mine", KeyChange(rpm=None)).rpm is None


def test_a_member_does_not_make_its_own_prices(desk: Desk) -> None:
    form = NewKey("x", account=ACCOUNT.id, markup="0.1")
    assert refusal(create_key, desk, MEMBER, form).status == 403
    create_key(desk, MEMBER, NewKey("x", account=ACCOUNT.id))
    for markup in ("0", None):
        assert refusal(change_key, desk, MEMBER, "x", KeyChange(markup=markup)).status == 403


def test_a_member_does_not_say_what_the_smart_choice_may_choose(desk: Desk) -> None:
    form = v.AutoForm(allow=["*"])
    new = NewKey("x", account=ACCOUNT.id, auto=form)
    assert refusal(create_key, desk, MEMBER, new).status == 403
    create_key(desk, ADMIN, NewKey("x", account=ACCOUNT.id, auto=v.AutoForm(exclude=["a"])))
    for auto in (form, None):
        assert refusal(change_key, desk, MEMBER, "x", KeyChange(auto=auto)).status == 403
    assert get_key(desk, MEMBER, "x").auto == v.AutoForm(exclude=["a"])


def test_a_mark_up_is_told_to_no_member(desk: Desk) -> None:
    create_key(desk, ADMIN, NewKey("x", account=ACCOUNT.id, markup="1.5"))
    for actor in (OWNER, ADMIN, READER):
        assert get_key(desk, actor, "x").markup == "1.5"
    assert get_key(desk, MEMBER, "x").markup is None
    assert [key.markup for key in list_keys(desk, MEMBER, Page()).data] == [None]
    assert change_key(desk, MEMBER, "x", KeyChange(rpm=1)).markup is None
    assert rotate_key(desk, MEMBER, "x").details.markup is None
    assert revoke_key(desk, MEMBER, "x").markup is None


def test_who_only_reads_changes_no_key(desk: Desk) -> None:
    create_key(desk, ADMIN, ALL)
    for call, *rest in (
        (create_key, NewKey("x")),
        (change_key, "alice", KeyChange(rpm=2)),
        (revoke_key, "alice"),
        (rotate_key, "alice"),
    ):
        assert refusal(call, desk, READER, *rest).status == 403


@pytest.mark.parametrize("wanted", ["nothing", "key_"])
def test_a_key_that_is_none_or_several_is_told(desk: Desk, wanted: str) -> None:
    for name in ("a", "b"):
        create_key(desk, ADMIN, NewKey(name))
    problem = refusal(get_key, desk, ADMIN, wanted)
    assert problem.status == 404
    assert wanted in problem.message


def test_faults_name_their_field(desk: Desk) -> None:
    for form, param in (
        (NewKey(""), "name"),
        (NewKey("a", expires="2020-01-01"), "expires"),
        (NewKey("a", models=[" "]), "models[0]"),
        (NewKey("a", markup="x"), "markup"),
        (NewKey("a", budget=v.BudgetForm("1e9", "day")), "budget.usd"),
    ):
        assert refusal(create_key, desk, ADMIN, form).param == param


def test_terms_of_the_smart_choice_are_kept_changed_and_taken_away(desk: Desk) -> None:
    form = v.AutoForm(allow=["gpt-6*", "gpt-6*"], ceiling=v.CeilingForm(output="25"))
    made = create_key(desk, ADMIN, NewKey("alice", auto=form)).details
    assert made.auto == v.AutoForm(allow=["gpt-6*"], ceiling=v.CeilingForm(output="25.00"))
    changed = change_key(desk, ADMIN, "alice", KeyChange(auto=v.AutoForm(exclude=["a"])))
    assert changed.auto == v.AutoForm(exclude=["a"])
    assert change_key(desk, ADMIN, "alice", KeyChange(rpm=1)).auto == changed.auto
    assert change_key(desk, ADMIN, "alice", KeyChange(auto=None)).auto is None
    wrong = v.AutoForm(ceiling=v.CeilingForm(input="much"))
    problem = refusal(change_key, desk, ADMIN, "alice", KeyChange(auto=wrong))
    assert (problem.status, problem.param) == (400, "auto")

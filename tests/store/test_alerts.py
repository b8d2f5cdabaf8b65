import pytest
from sqlalchemy import text

from tests.store.rows import ACCOUNT
from zurelay.store import wallets
from zurelay.store.alerts import (
    ACCOUNTS,
    OPERATORS,
    Alert,
    Target,
    add_alert,
    count_open,
    end_budget,
    end_subject,
    end_unseen,
    erase_target,
    find_target,
    forget_alerts,
    keepers,
    languages_of,
    list_alerts,
    note_credit,
    open_of_operators,
    saw,
    set_target,
)
from zurelay.store.engine import Store
from zurelay.store.members import Member, add_member
from zurelay.store.people import Person, add_person


def an_alert(event: str, at: int = 1000, **changes: object) -> Alert:
    fields: dict[str, object] = {
        "event": event,
        "kind": "budget",
        "account": ACCOUNT.id,
        "raised_ms": at,
        "ended_ms": None,
        "detail": "{}",
        "subject": event,
    }
    return Alert(**(fields | changes))  # type: ignore[arg-type]


def test_an_event_is_written_once(store: Store) -> None:
    with store.write() as connection:
        assert add_alert(connection, an_alert("a"))
        assert not add_alert(connection, an_alert("a", 2000))
        (found,) = list_alerts(connection, None, 0, limit=9)
        assert found == an_alert("a")


def test_they_are_listed_by_whose_they_are_and_by_whether_they_hold(store: Store) -> None:
    with store.write() as connection:
        add_alert(connection, an_alert("mine", 1))
        add_alert(connection, an_alert("ends", 2, ended_ms=500))
        add_alert(connection, an_alert("other", 3, account="acct_2"))
        add_alert(connection, an_alert("route", 4, account=None, kind="route_down", seen_ms=4))

        def events(whose: str | None = None, now: int = 400, **only: object) -> list[str]:
            found = list_alerts(connection, whose, now, limit=9, **only)  # type: ignore[arg-type]
            return [one.event for one in found]

        assert events() == ["route", "other", "ends", "mine"]
        assert events(ACCOUNT.id) == ["ends", "mine"]
        assert events(OPERATORS) == ["route"]
        assert events(ACCOUNTS) == ["other", "ends", "mine"]
        assert events(kind="route_down") == ["route"]
        assert events(ACCOUNT.id, holds=True) == ["ends", "mine"]
        assert events(ACCOUNT.id, 500, holds=True) == ["mine"]
        assert events(ACCOUNT.id, 500, holds=False) == ["ends"]
        assert events(after=(3, "other")) == ["ends", "mine"]
        assert count_open(connection) == {"route_down": 1}


def test_the_end_comes_to_what_holds_alone(store: Store) -> None:
    with store.write() as connection:
        for event, ended in (("a", None), ("b", 900), ("c", 300), ("d", None)):
            add_alert(connection, an_alert(event, subject="w", ended_ms=ended))
        end_subject(connection, "w", 400, but="d")
        found = {one.event: one.ended_ms for one in list_alerts(connection, None, 0, limit=9)}
        assert found == {"a": 400, "b": 400, "c": 300, "d": None}
        assert forget_alerts(connection, 400) == 1


def test_a_budgets_alerts_end_with_it_and_not_those_of_a_key_with_a_longer_name(
    store: Store,
) -> None:
    with store.write() as connection:
        for owner in ("key_1", "key_11", "keyx1"):
            add_alert(connection, an_alert(owner, subject=f"budget:{owner}:2026-11"))
        end_budget(connection, ACCOUNT.id, "key_1", 500)
        held = list_alerts(connection, None, 600, holds=True, limit=9)
        assert {one.event for one in held} == {"key_11", "keyx1"}


def test_what_no_node_sees_any_more_ends(store: Store) -> None:
    with store.write() as connection:
        for event in ("a", "b"):
            add_alert(connection, an_alert(event, account=None, seen_ms=1000))
        saw(connection, ["b"], 2000)
        assert [one.event for one in end_unseen(connection, 1500, 2100)] == ["a"]
        assert [one.event for one in open_of_operators(connection)] == ["b"]


@pytest.mark.parametrize("emails", [None, (), ("ann@example.com", "bob@example.com")])
def test_a_target_is_kept_as_it_was_set(store: Store, emails: tuple[str, ...] | None) -> None:
    with store.write() as connection:
        assert find_target(connection, ACCOUNT.id) is None
        set_target(connection, Target(ACCOUNT.id, ("x@example.com",), None, None, 1))
        target = Target(ACCOUNT.id, emails, "https://example.com", "whsec_x", 2)
        set_target(connection, target)
        assert find_target(connection, ACCOUNT.id) == target
        erase_target(connection, ACCOUNT.id)
        assert find_target(connection, ACCOUNT.id) is None


def test_keepers_are_owners_and_admins_who_are_there_else_members(store: Store) -> None:
    with store.write() as connection:
        for number, (role, removed) in enumerate(
            [("owner", None), ("admin", None), ("member", None), ("admin", 5)]
        ):
            email = f"{number}@example.com"
            member = Member(f"mem_{number}", ACCOUNT.id, email, "", role, number, removed)
            add_member(connection, member)
        add_person(connection, Person("p0", "0@example.com", "", None, "nl", 0))
        add_person(connection, Person("p1", "1@example.com", "", None, None, 0))
        found = keepers(connection, ACCOUNT.id, 9)
        assert found == ["0@example.com", "1@example.com"]
        assert keepers(connection, ACCOUNT.id, 1) == ["0@example.com"]
        connection.execute(text("UPDATE member SET removed = 5 WHERE role <> 'member'"))
        assert keepers(connection, ACCOUNT.id, 9) == ["2@example.com"]
        assert languages_of(connection, found) == {"0@example.com": "nl"}


def test_a_credit_notes_what_the_balance_is_wherever_it_is_leased(store: Store) -> None:
    balance = wallets.account_balance(ACCOUNT.id)
    with store.write() as connection:
        wallets.add_available(connection, balance, 10)
        connection.execute(
            text(
                "INSERT INTO lease (wallet, node, epoch, granted, spent, held)"
                " VALUES (:wallet, 'n1', 1, 7, 3, 0)"
            ),
            {"wallet": balance.id},
        )
        add_alert(connection, an_alert("low", subject=balance.id))
        note_credit(connection, balance.id, 5000)
        found = connection.execute(text("SELECT topped, topped_ms FROM wallet")).one()
        assert tuple(found) == (14, 5000)
        (low,) = list_alerts(connection, None, 0, limit=9)
        assert low.ended_ms == 5000

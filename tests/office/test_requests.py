import pytest

from tests.office.people import ADMIN, MEMBER, NOON, READER, STRANGER, refusal
from tests.store.rows import a_record, entry
from zurelay.meter.record import RequestRecord
from zurelay.office import requests
from zurelay.office.desk import Desk
from zurelay.office.keys import NewKey, create_key
from zurelay.office.requests import Wanted, get, list_requests
from zurelay.store.requests import add_requests


def log(desk: Desk, *records: RequestRecord) -> list[str]:
    with desk.store.write() as connection:
        add_requests(connection, [entry(record) for record in records])
    return [record.id for record in records]


def found(desk: Desk, wanted: Wanted) -> list[str]:
    return [one["id"] for one in list_requests(desk, READER, wanted, 50).data[::-1]]


def test_entries_are_found_by_what_they_have(desk: Desk) -> None:
    key = create_key(desk, ADMIN, NewKey("alice")).details.id
    ids = log(
        desk,
        a_record(NOON, key=key, user="ann", metadata={"team": "docs", "env": "prod"}),
        a_record(NOON + 1, status="error", model="other", answered_by=None),
        a_record(NOON + 2, account="acct_2", metadata=None),
    )
    for wanted, places in (
        (Wanted(), (0, 1, 2)),
        (Wanted(key="alice"), (0,)),
        (Wanted(account="default"), (0, 1)),
        (Wanted(model="other"), (1,)),
        (Wanted(status="error"), (1,)),
        (Wanted(user="ann"), (0,)),
        (Wanted(metadata={"team": "docs"}), (0, 1)),
        (Wanted(metadata={"team": "docs", "env": "prod"}), (0,)),
        (Wanted(metadata={"team": "x"}), ()),
        (Wanted(since=NOON + 1), (1, 2)),
        (Wanted(until=NOON + 1), (0,)),
    ):
        assert found(desk, wanted) == [ids[place] for place in places], wanted


@pytest.mark.parametrize("metadata", [{}, {"team": "docs"}])
@pytest.mark.parametrize("size", [1, 2, 3, 50])
def test_pages_hold_every_entry_once(desk: Desk, metadata: dict[str, str], size: int) -> None:
    ids = log(desk, *(a_record(NOON + n) for n in range(6)))
    seen: list[str] = []
    cursor = None
    while True:
        page = list_requests(desk, READER, Wanted(metadata=metadata), size, cursor)
        seen += [one["id"] for one in page.data]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen == ids[::-1]


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted(metadata={"team": "rare"}),
        Wanted(user="rare"),
        Wanted(model="rare"),
        Wanted(status="cancelled"),
    ],
)
def test_a_search_that_no_index_helps_stops_after_so_many_and_can_go_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, wanted: Wanted
) -> None:
    monkeypatch.setattr(requests, "SCANNED", 4)
    rare = a_record(NOON, metadata={"team": "rare"}, user="rare", model="rare", status="cancelled")
    ids = log(desk, rare, *(a_record(NOON + n) for n in range(1, 9)))
    first = list_requests(desk, READER, wanted, 50)
    assert (first.data, first.next_cursor) == ([], ids[5])
    second = list_requests(desk, READER, wanted, 50, first.next_cursor)
    assert (second.data, second.next_cursor) == ([], ids[1])
    third = list_requests(desk, READER, wanted, 50, second.next_cursor)
    assert [one["id"] for one in third.data] == [rare.id]
    assert third.next_cursor is None


@pytest.mark.parametrize("text", ['a"b', "100%", "é\n", "a\\b", "_", ""])
def test_metadata_is_found_as_it_was_written(desk: Desk, text: str) -> None:
    mine, _, _ = log(
        desk,
        a_record(NOON, metadata={text: text}),
        a_record(NOON + 1, metadata={text: f"{text}x"}),
        a_record(NOON + 2, metadata={"A": "B"}),
    )
    found = list_requests(desk, READER, Wanted(metadata={text: text}), 5)
    assert [one["id"] for one in found.data] == [mine]
    assert list_requests(desk, READER, Wanted(metadata={"a": "b"}), 5).data == []


def test_what_is_no_cursor_is_refused(desk: Desk) -> None:
    assert refusal(list_requests, desk, READER, Wanted(), 5, "x").param == "cursor"


def test_who_runs_the_gateway_sees_more_of_an_entry_than_a_member(desk: Desk) -> None:
    (id_,) = log(desk, a_record(NOON, address="192.0.2.1"))
    assert get(desk, READER, id_)["address"] == "192.0.2.1"
    assert get(desk, READER, id_)["attempts"][0]["route_id"]
    seen = get(desk, MEMBER, id_)
    assert "address" not in seen
    assert "route_id" not in seen["attempts"][0]
    assert list_requests(desk, MEMBER, Wanted(), 5).data == [seen]


def test_a_member_sees_its_own_accounts_entries_alone(desk: Desk) -> None:
    mine, theirs = log(desk, a_record(NOON), a_record(NOON + 1, account="acct_2"))
    assert [one["id"] for one in list_requests(desk, MEMBER, Wanted(), 5).data] == [mine]
    assert refusal(get, desk, MEMBER, theirs).status == 404
    assert refusal(get, desk, STRANGER, mine).status == 404
    assert refusal(get, desk, READER, "req_x").status == 404
    assert refusal(list_requests, desk, MEMBER, Wanted(account="acct_2"), 5).status == 404

import json
from pathlib import Path

import pytest
from sqlalchemy import insert

from tests.office.people import ACCOUNT, ADMIN, MEMBER, NOON, OWNER, READER, audited, refusal
from tests.store.rows import a_record, entry
from zurelay.office import personal
from zurelay.office.accounts import get_account
from zurelay.office.alerts import TargetForm, get_target, set_target
from zurelay.office.desk import Desk
from zurelay.office.keys import NewKey, create_key, get_key, revoke_key
from zurelay.office.members import NewMember, add, list_members
from zurelay.office.money import Payment, credit
from zurelay.office.pages import Page
from zurelay.office.personal import SubjectForm, erase, export
from zurelay.office.requests import get
from zurelay.office.usage import usage
from zurelay.store import schema
from zurelay.store.alerts import Alert, add_alert, list_alerts
from zurelay.store.requests import add_requests

LOW = '{"level":50,"credit":"10","left":"5"}'
WORDS = ("ann-4711", "docs-4711", "curl-4711", "192.0.2.47", "req-4711")


def log(desk: Desk, **changes: object) -> str:
    fields: dict[str, object] = {
        "user": "ann-4711",
        "metadata": {"team": "docs-4711"},
        "client": "curl-4711",
        "address": "192.0.2.47",
        "client_request_id": "req-4711",
    }
    record = a_record(NOON, **(fields | changes))
    with desk.store.write() as connection:
        add_requests(connection, [entry(record)])
    return record.id


def never(_: float) -> None:
    raise AssertionError("nobody is at work")


def files(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


@pytest.mark.parametrize(
    "form", [SubjectForm(account="default"), SubjectForm(user="ann-4711")], ids=["account", "user"]
)
def test_what_is_erased_is_gone_and_amounts_stay(
    desk: Desk, tmp_path: Path, form: SubjectForm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(personal, "BATCH", 2)
    # So much that entries lie on pages of their own, which are given up.
    metadata = {f"team-{n}": "docs-4711" * 50 for n in range(16)}
    ids = [log(desk, metadata=metadata) for _ in range(5)]
    before = usage(desk, OWNER, "model")
    done = erase(desk, OWNER, form, sleep=never)
    assert (done.requests, done.undelivered) == (5, 0)
    assert usage(desk, OWNER, "model") == before
    for id_ in ids:
        seen = get(desk, OWNER, id_)
        assert (seen["user"], seen["metadata"], seen["address"]) == (None, None, None)
        assert seen["cost_usd"] == "0.000012345"
    assert not any(word in str(audited(desk)) for word in WORDS)
    if desk.store.kind == "sqlite":
        held = files(tmp_path / "data")
        assert [word for word in WORDS if word.encode() in held] == []


def test_only_the_subject_is_erased(desk: Desk) -> None:
    mine = log(desk)
    theirs = log(desk, account="acct_2")
    other = log(desk, user="bob")
    erase(desk, OWNER, SubjectForm(account="default", user="ann-4711"), sleep=never)
    assert get(desk, OWNER, mine)["user"] is None
    assert get(desk, OWNER, theirs)["user"] == "ann-4711"
    assert get(desk, OWNER, other)["user"] == "bob"
    erase(desk, OWNER, SubjectForm(user="ann-4711"), sleep=never)
    assert get(desk, OWNER, theirs)["user"] is None


def test_an_accounts_people_and_dead_keys_lose_their_names(desk: Desk) -> None:
    add(desk, OWNER, "default", NewMember("ann@example.com", "Ann"))
    dead = create_key(desk, OWNER, NewKey("ann's laptop")).details.id
    live = create_key(desk, OWNER, NewKey("bob's laptop")).details.id
    revoke_key(desk, OWNER, dead)
    credit(desk, OWNER, "default", Payment("5", "inv-1", "for Ann"))
    done = erase(desk, OWNER, SubjectForm(account="default"), sleep=never)
    assert (done.members, done.keys) == (1, 1)
    assert list_members(desk, OWNER, "default", Page()).data == []
    assert get_key(desk, OWNER, dead).name == dead
    assert get_key(desk, OWNER, live).name == "bob's laptop"
    assert get_account(desk, OWNER, "default").balance_usd == "5"
    assert "Ann" not in str(audited(desk))
    assert "laptop" not in str(audited(desk))
    assert audited(desk)[-1].action == "personal.erase"


def test_where_an_accounts_alerts_go_is_exported_and_forgotten_the_alerts_stay(desk: Desk) -> None:
    form = TargetForm(["ann@example.com"], "https://hooks.example.com/in")
    secret = set_target(desk, OWNER, "default", form).secret
    with desk.store.write() as connection:
        add_alert(connection, Alert("e", "balance", ACCOUNT.id, 1, None, LOW, "balance:x"))
    text = "".join(export(desk, OWNER, SubjectForm(account="default")))
    lines = [json.loads(line) for line in text.splitlines()]
    by_kind = {one["kind"]: one["data"] for one in lines}
    assert by_kind["alert_target"]["emails"] == ["ann@example.com"]
    assert by_kind["alert"]["says"].startswith("At most 50% of the balance is left")
    assert secret is not None
    assert secret not in text
    erase(desk, OWNER, SubjectForm(account="default"), sleep=never)
    found = get_target(desk, OWNER, "default")
    assert (found.emails, found.webhook) == (None, None)
    with desk.store.read() as connection:
        assert len(list_alerts(connection, ACCOUNT.id, 0, limit=9)) == 1


def test_what_nodes_still_hold_is_waited_for_or_told(desk: Desk) -> None:
    log(desk)
    with desk.store.write() as connection:
        row = {"id": "node", "epoch": 1, "seen": int(NOON), "spool": 7}
        connection.execute(insert(schema.node).values(**row))
    late: list[str] = []

    def settle(seconds: float) -> None:
        assert seconds == personal.SETTLE_S
        late.append(log(desk))

    done = erase(desk, OWNER, SubjectForm(user="ann-4711"), sleep=settle)
    assert (done.requests, done.undelivered) == (2, 7)
    assert get(desk, OWNER, late[0])["user"] is None


def test_an_export_gives_all_that_is_kept_as_json_lines(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(personal, "BATCH", 2)
    ids = {log(desk) for _ in range(3)}
    log(desk, account="acct_2")
    add(desk, OWNER, "default", NewMember("ann@example.com", "Ann"))
    text = create_key(desk, OWNER, NewKey("laptop")).key
    credit(desk, OWNER, "default", Payment("5", "inv-1"))
    lines = [json.loads(line) for line in export(desk, OWNER, SubjectForm(account="default"))]
    kinds = [line["kind"] for line in lines]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "account": 1,
        "member": 1,
        "key": 1,
        "transfer": 1,
        "alert_target": 1,
        "audit": 4,
        "request": 3,
    }
    assert {line["data"]["id"] for line in lines if line["kind"] == "request"} == ids
    assert lines[-1]["data"]["address"] == "192.0.2.47"
    assert text not in str(lines)
    user = [json.loads(line) for line in export(desk, OWNER, SubjectForm(user="ann-4711"))]
    assert [line["kind"] for line in user] == ["request"] * 4
    assert audited(desk)[-1].target.startswith("user:")


def test_owners_alone_handle_personal_data(desk: Desk) -> None:
    for actor in (ADMIN, READER, MEMBER):
        for call in (erase, export):
            assert refusal(call, desk, actor, SubjectForm(account=ACCOUNT.id)).status == 403
    for call in (erase, export):
        assert refusal(call, desk, OWNER, SubjectForm()).param == "account"
        assert refusal(call, desk, OWNER, SubjectForm(account="nobody")).status == 404

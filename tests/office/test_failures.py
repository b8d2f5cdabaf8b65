from sqlalchemy import select

from tests.store.rows import Clock
from zurelay.office.desk import Desk
from zurelay.office.failures import Failures
from zurelay.store import schema


def test_failures_are_told_by_their_age(desk: Desk, clock: Clock) -> None:
    failures = Failures(desk)
    failures.add(["ip 1.1.1.1", "email ann@example.com"])
    clock.now += 10.5
    failures.add(["ip 1.1.1.1"])
    clock.now += 1
    names = ["ip 1.1.1.1", "email ann@example.com", "ip 2.2.2.2"]
    assert failures.ages(names, 900.0) == {
        "ip 1.1.1.1": [11.5, 1.0],
        "email ann@example.com": [11.5],
    }
    assert failures.ages(names, 5.0) == {"ip 1.1.1.1": [1.0]}
    failures.forget("ip 1.1.1.1")
    assert failures.ages(names, 900.0) == {"email ann@example.com": [11.5]}


def test_what_is_kept_names_nobody(desk: Desk) -> None:
    Failures(desk).add(["pair ann@example.com 1.1.1.1", "ip 1.1.1.1"])
    with desk.store.read() as connection:
        rows = connection.execute(select(schema.sign_in_failure)).all()
    assert len(rows) == 2
    assert all("ann" not in str(row) and "1.1.1.1" not in str(row) for row in rows)
    assert all(len(row.who) == 64 for row in rows)

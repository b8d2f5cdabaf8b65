"""How fast the newest answers came, on SQLite and on PostgreSQL."""

from tests.store.rows import NOON, a_record
from tests.store.test_trends import written
from zurelay.chat.usage import Usage
from zurelay.store.engine import Store
from zurelay.store.speeds import Answer, newest_answers


def test_the_newest_good_answers_are_read_and_no_more_than_asked_for(store: Store) -> None:
    usage = Usage(input=1, output=9)
    written(
        store,
        *(a_record(NOON + at, answered_by=f"m{at}", usage=usage) for at in range(4)),
        a_record(NOON + 9, answered_by=None, status="error", usage=None),
        a_record(NOON + 8, answered_by="m8", status="error"),
        a_record(NOON + 7, answered_by="m7", account="acct_other", usage=None),
    )
    with store.read() as connection:
        found = newest_answers(connection, NOON + 1, 9)
        assert [one.model for one in found] == ["m7", "m3", "m2", "m1"]
        assert found[1] == Answer("m3", None, None, 9)
        assert found[0].tokens_out == 0
        assert [one.model for one in newest_answers(connection, NOON, 4)] == ["m7", "m3"]
        other = newest_answers(connection, NOON, 9, "acct_other")
        assert [one.model for one in other] == ["m7"]

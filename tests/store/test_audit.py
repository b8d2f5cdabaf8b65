from dataclasses import replace

from zurelay.store.audit import AuditRow, add_audit, list_audit
from zurelay.store.engine import Store

ROW = AuditRow("aud_1", 1000, "cli:a", "key.create", "key_1", "acct_1", '{"a": 1}')


def test_lines_come_back_newest_first_and_narrowed_down(store: Store) -> None:
    rows = [ROW, replace(ROW, id="aud_2", at_ms=2000, action="key_x", account=None, actor="b")]
    with store.write() as connection:
        for row in rows:
            add_audit(connection, row)
    with store.read() as connection:
        assert list_audit(connection, limit=5) == rows[::-1]
        assert list_audit(connection, limit=1) == rows[1:]
        assert list_audit(connection, limit=5, after=(2000, "aud_2")) == rows[:1]
        assert list_audit(connection, limit=5, account="acct_1") == rows[:1]
        assert list_audit(connection, limit=5, actor="b") == rows[1:]
        assert list_audit(connection, limit=5, target="nothing") == []
        assert list_audit(connection, limit=5, action="key") == rows[:1], "a kind ends at a dot"
        assert list_audit(connection, limit=5, action="key_x") == rows[1:]

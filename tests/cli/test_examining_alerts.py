from pathlib import Path

import pytest

from tests.store.rows import NOON, Clock
from zurelay.cli.examining_alerts import alerts
from zurelay.office import watching
from zurelay.office.desk import Desk
from zurelay.office.telling import Recipients
from zurelay.office.watching import Sighting, raise_seen
from zurelay.store.engine import open_store


def test_what_holds_is_told_and_how_long_ago_it_was_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(NOON)
    monkeypatch.setattr(watching, "database_time", lambda _: NOON)
    store = open_store(tmp_path)
    assert [(one.state, one.says) for one in alerts(store, clock)] == [("ok", "none open")]
    raise_seen(
        Desk(store, clock),
        [Sighting("disk", "n1", {"node": "n1", "percent": 85})],
        Recipients(),
    )
    (found,) = alerts(store, clock)
    assert (found.what, found.state) == ("alert", "warning")
    assert found.says == "The disk of n1 is 85% full; since 2026-11-29 12:00 UTC"
    clock.now += 301
    (found,) = alerts(store, clock)
    assert found.says.endswith("UTC, last seen 2026-11-29 12:00")
    many = [Sighting("unreachable", f"p{n}", {"provider": f"p{n}"}) for n in range(10)]
    raise_seen(Desk(store, clock), many, Recipients())
    assert [one.says for one in alerts(store, clock)][-1] == "1 more; see zurelay alerts --open"
    store.close()

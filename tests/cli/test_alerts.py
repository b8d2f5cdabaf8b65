import json
from pathlib import Path

from tests.cli.conftest import Run
from zurelay.office.desk import Desk
from zurelay.office.telling import Recipients
from zurelay.office.watching import Sighting, raise_seen
from zurelay.store.engine import open_store


def test_alerts_are_a_table_or_json_newest_first(run: Run, tmp_path: Path) -> None:
    run("keys", "create", "one")
    ran = run("alerts")
    assert (ran.code, ran.out) == (0, "")
    store = open_store(tmp_path / "zurelay-data")
    disk = Sighting("disk", "n1", {"node": "n1\x1b[31m", "percent": 85})
    raise_seen(Desk(store), [disk], Recipients())
    store.close()
    line = run("alerts").out.split("\n")[1]
    assert "open" in line
    assert "is 85% full." in line
    assert "\x1b" not in line
    (row,) = json.loads(run("alerts", "--json", "--open", "--kind", "disk").out)
    assert (row["kind"], row["account"], row["open"]) == ("disk", None, True)
    assert json.loads(run("alerts", "--json", "--kind", "spool").out) == []
    assert run("alerts", "--account", "nobody").code == 1

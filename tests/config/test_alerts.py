from pathlib import Path

import pytest

from zurelay.config.alerts import Alerts
from zurelay.config.faults import ConfigError
from zurelay.config.load import load


def loaded(folder: Path, text: str) -> Alerts:
    path = folder / "zurelay.toml"
    path.write_text(f"[alerts]\n{text}\n", encoding="utf-8")
    return load(path, {"HOOK": "http://10.0.0.7:9000/in?key=abc"}, folder).alerts


def test_without_a_table_nobody_is_told_and_the_bounds_are_those_of_the_book(
    tmp_path: Path,
) -> None:
    found = loaded(tmp_path, "")
    assert found == Alerts((), "", "", 300.0, 300.0, 80, 1.0, 30)


def test_operators_may_be_told_inside_their_network(tmp_path: Path) -> None:
    found = loaded(tmp_path, 'emails = ["Ops@Example.com"]\nwebhook = "$HOOK"\nclock_s = 2')
    assert found.emails == ("ops@example.com",)
    assert found.webhook == "http://10.0.0.7:9000/in?key=abc"
    assert found.clock_s == 2.0
    assert "10.0.0.7" not in repr(found)  # the path of such an address is often its secret


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('emails = ["nobody"]', "it is no address"),
        ('emails = ["a@b.nl", "A@b.nl"]', "twice"),
        (f"emails = {[f'{n}@b.nl' for n in range(11)]}", "at most 10"),
        ('webhook = "ftp://example.com"', "must start with http"),
        ('webhook = "https://u:p@example.com"', "user name or password"),
        ("disk_percent = 101", "out of range"),
        ("clock_s = 0", "out of range"),
    ],
)
def test_faults_say_what_to_write(tmp_path: Path, line: str, says: str) -> None:
    with pytest.raises(ConfigError) as found:
        loaded(tmp_path, line)
    (fault,) = found.value.faults
    assert says in fault.message
    assert fault.key.startswith("alerts.")

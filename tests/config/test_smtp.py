from pathlib import Path

import pytest

from zurelay.config.faults import ConfigError
from zurelay.config.load import load
from zurelay.config.smtp import Smtp

GOOD = {"host": "mail.example.com", "sender": "Acme AI <ai@example.com>"}


def loaded(folder: Path, **values: object) -> Smtp:
    lines = [f"{key} = {value!r}" for key, value in values.items()]
    path = folder / "zurelay.toml"
    path.write_text("[smtp]\n" + "\n".join(lines), encoding="utf-8")
    return load(path, {"SECRET": "very secret päss"}, folder).smtp


def faults(folder: Path, **values: object) -> dict[str, str]:
    with pytest.raises(ConfigError) as found:
        loaded(folder, **values)
    return {fault.key.removeprefix("smtp."): fault.message for fault in found.value.faults}


def test_without_a_host_there_is_no_mail(tmp_path: Path) -> None:
    assert loaded(tmp_path).host == ""


def test_host_and_sender_are_enough(tmp_path: Path) -> None:
    found = loaded(tmp_path, **GOOD)
    assert (found.port, found.security, found.timeout) == (587, "starttls", 20.0)


def test_a_password_may_be_any_text_and_stays_out_of_sight(tmp_path: Path) -> None:
    found = loaded(tmp_path, **GOOD, user="ai", password="$SECRET")
    assert found.password == "very secret päss"
    assert "very secret" not in repr(found)


def test_a_password_travels_in_the_open_only_on_this_machine(tmp_path: Path) -> None:
    signed = {"sender": "ai@example.com", "user": "a", "password": "b", "security": "none"}
    for host in ("localhost", "127.0.0.1", "::1"):
        assert loaded(tmp_path, host=host, **signed).host == host
    assert list(faults(tmp_path, host="10.0.0.1", **signed)) == ["security"]


@pytest.mark.parametrize(
    ("values", "key", "says"),
    [
        ({"host": "mail.example.com"}, "sender", 'write sender = "'),
        ({"sender": "a@b.nl"}, "host", 'write host = "'),
        ({**GOOD, "user": "ann"}, "password", "go together"),
        ({**GOOD, "password": "x"}, "user", "go together"),
        ({**GOOD, "host": "smtp://mail.example.com"}, "host", "a name alone"),
        ({**GOOD, "host": "mail.example.com:25"}, "host", "a name alone"),
        ({**GOOD, "sender": "Acme"}, "sender", "holds no address"),
        ({**GOOD, "security": "ssl"}, "security", "write one of"),
        ({**GOOD, "port": 0}, "port", "out of range"),
        ({**GOOD, "sendr": "a@b.nl"}, "sendr", 'Did you mean "sender"'),
    ],
)
def test_a_fault_says_what_to_write_instead(
    tmp_path: Path, values: dict[str, object], key: str, says: str
) -> None:
    found = faults(tmp_path, **values)
    assert list(found) == [key]
    assert says in found[key]

from pathlib import Path

import pytest

from zurelay.config.parse import Parsed, parse, read_toml


def keys(parsed: Parsed) -> list[str]:
    return [fault.key for fault in parsed.faults]


def test_an_empty_document_is_all_defaults() -> None:
    parsed = parse({}, "z.toml")
    assert parsed.faults == []
    assert parsed.tables["server"].port == 8000
    assert parsed.tables["routing"].hedge is False


def test_every_fault_is_found_at_once() -> None:
    document = {
        "server": {"prot": 1, "port": True, "drain_delay_s": -1},
        "brnad": {},
        "streaming": 3,
        "providers": {"a": {"kind": 1}, "b": {}},
        "models": {"m": {"routes": [1, "a"], "context": "big"}},
    }
    assert sorted(keys(parse(document, "z.toml"))) == sorted(
        [
            "server.prot",
            "server.port",
            "server.drain_delay_s",
            "brnad",
            "streaming",
            "providers.a.kind",
            "providers.b.kind",
            "models.m.routes[0]",
            "models.m.context",
        ]
    )


def test_an_unknown_key_is_told_the_nearest_known_one() -> None:
    parsed = parse({"server": {"prot": 1}, "storge": {}}, "z.toml")
    assert [fault.message for fault in parsed.faults] == [
        'unknown table. Did you mean "storage"?',
        'unknown key. Did you mean "port"?',
    ]


def test_a_key_in_the_wrong_table_is_told_the_right_one() -> None:
    parsed = parse({"port": 1, "server": {"retention_days": 1}}, "z.toml")
    told = {fault.key: fault.message for fault in parsed.faults}
    assert told["port"].endswith("[server]")
    assert told["server.retention_days"].endswith("[log]")


def test_a_key_straight_under_providers_is_told_to_get_a_table() -> None:
    parsed = parse({"providers": {"kind": "openai"}}, "z.toml")
    assert "[providers.a-name]" in parsed.faults[0].message


@pytest.mark.parametrize("name", ["", "two words", "a\nb", "é", "x" * 201])
def test_a_name_that_could_not_stand_in_a_header_is_refused(name: str) -> None:
    parsed = parse({"providers": {name: {"kind": "openai"}}}, "z.toml")
    assert "no usable name" in parsed.faults[0].message


def test_the_rest_of_a_faulty_table_is_still_read() -> None:
    parsed = parse({"providers": {"a": {"kind": "openai", "labl": "x", "label": "y"}}}, "z.toml")
    assert parsed.providers["a"].label == "y"
    assert ("providers", "a") not in parsed.whole


def test_a_missing_file_a_folder_and_bad_bytes_are_faults(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"a = '\xff'")
    (tmp_path / "syntax").write_text("[server\nport = 1")
    told = [read_toml(tmp_path / name)[1][0].message for name in ("no", ".", "bytes", "syntax")]
    assert told[0].startswith("there is no such file")
    assert told[1].startswith("it cannot be read")
    assert told[2].startswith("it is not UTF-8")
    assert told[3].startswith("this is not TOML") and "line 1" in told[3]


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\xef\xbb\xbf[server]\nport = 1")
    assert read_toml(tmp_path / "f") == ({"server": {"port": 1}}, [])

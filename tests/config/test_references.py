from pathlib import Path

import pytest

from zurelay.config.references import References
from zurelay.config.values import UNRESOLVED, Outside


@pytest.fixture
def references(tmp_path: Path) -> References:
    return References("z.toml", tmp_path, {"KEY": "sk-1", "EMPTY": ""})


def test_a_variable_is_taken_from_the_environment(references: References) -> None:
    found = references.resolve({"a": [{"b": "$KEY"}], "n": 3})
    assert found == {"a": [{"b": "sk-1"}], "n": 3}
    assert isinstance(found["a"][0]["b"], Outside)
    assert references.faults == []


def test_a_missing_variable_is_named_with_the_key_that_wants_it(references: References) -> None:
    assert references.resolve({"a": ["x", "$GONE"]}) == {"a": ["x", UNRESOLVED]}
    (fault,) = references.faults
    assert fault.key == "a[1]"
    assert "GONE is not set" in fault.message


def test_an_empty_variable_counts_as_missing(references: References) -> None:
    references.resolve({"a": "$EMPTY"})
    assert "EMPTY is empty" in references.faults[0].message


def test_two_dollars_stand_for_one(references: References) -> None:
    assert references.resolve({"a": "$$KEY", "b": "pay $5"}) == {"a": "$KEY", "b": "pay $5"}


@pytest.mark.parametrize("value", ["$", "$5", "${KEY}", "$A-B"])
def test_a_dollar_before_no_name_is_explained(references: References, value: object) -> None:
    references.resolve({"a": value})
    assert '"$$"' in references.faults[0].message


def test_a_value_is_read_from_a_file_beside_the_configuration(
    references: References, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("sk-2\n")
    assert references.resolve({"a": "file:secret"}) == {"a": "sk-2"}
    assert references.sources == [tmp_path / "secret"]


def test_an_absolute_file_is_followed_through_a_symlink(
    references: References, tmp_path: Path
) -> None:
    (tmp_path / "v1").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "v1")
    assert references.resolve({"a": f"file:{tmp_path}/link"}) == {"a": "old"}


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"", "is empty"), (b"\xff\xfe", "not UTF-8"), (b"x" * 70_000, "larger than 64 KB")],
)
def test_an_unusable_file_is_a_fault(
    references: References, tmp_path: Path, content: bytes, says: str
) -> None:
    (tmp_path / "f").write_bytes(content)
    assert references.resolve({"a": "file:f"}) == {"a": UNRESOLVED}
    assert says in references.faults[0].message


def test_a_missing_file_is_a_fault_and_is_watched_all_the_same(
    references: References, tmp_path: Path
) -> None:
    references.resolve({"a": "file:gone", "b": "file:", "c": "file:nul\0"})
    assert "No such file" in references.faults[0].message
    assert "after file: comes a path" in references.faults[1].message
    assert tmp_path / "gone" in references.sources

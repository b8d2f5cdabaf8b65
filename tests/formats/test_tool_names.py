"""Names of tools, there and back."""

import re

from hypothesis import given
from hypothesis import strategies as st

from zurelay.formats.tool_names import legal_name, renamed


def test_legal_names_stay() -> None:
    assert legal_name("get_weather-2") == "get_weather-2"
    assert renamed(["a", "b"]) == {}


def test_others_read_like_what_they_stand_for() -> None:
    found = legal_name("files.read/all")
    assert found.startswith("files_read_all_")
    assert renamed(["a", "files.read/all"]) == {found: "files.read/all"}


@given(st.text(min_size=1, max_size=200), st.sampled_from([64, 128]))
def test_every_name_becomes_legal_and_the_same_each_time(name: str, longest: int) -> None:
    found = legal_name(name, longest)
    assert re.fullmatch(r"[A-Za-z0-9_-]+", found)
    assert len(found) <= longest
    assert legal_name(name, longest) == found


def test_names_that_differ_in_one_sign_stay_apart() -> None:
    assert len({legal_name(name) for name in ("a.b", "a/b", "a b", "a_b")}) == 4

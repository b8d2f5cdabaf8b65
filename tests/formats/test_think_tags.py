"""Think tags: thinking and text come apart, whatever the pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zurelay.formats.think_tags import ThinkTags


def parted(pieces: list[str]) -> tuple[str, str]:
    tags = ThinkTags()
    pairs = [tags.push(piece) for piece in pieces] + [tags.flush()]
    return "".join(a for a, _ in pairs), "".join(b for _, b in pairs)


@pytest.mark.parametrize(
    ("content", "thinking", "text"),
    [
        ("<think>\na b</think>\n\nC\n", "a b", "C\n"),
        (" \n<think>a</think>C", "a", "C"),
        ("plain <think>x</think>", "", "plain <think>x</think>"),
        ("<thin", "", "<thin"),
        ("<think>never closed </thi", "never closed </thi", ""),
        ("<think></think>C </think>", "", "C </think>"),
        ("", "", ""),
    ],
)
def test_parts(content: str, thinking: str, text: str) -> None:
    assert parted([content]) == (thinking, text)
    assert parted(list(content)) == (thinking, text)


@given(
    st.lists(
        st.sampled_from(["<think>", "</think>", "<th", "ink>", "</", "a", "\n", " "]), max_size=10
    )
)
def test_pieces_do_not_matter(pieces: list[str]) -> None:
    whole = "".join(pieces)
    assert parted(pieces) == parted([whole]) == parted(list(whole))

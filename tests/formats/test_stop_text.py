"""Stop sequences: text up to the first, whatever the pieces."""

from hypothesis import given
from hypothesis import strategies as st

from zurelay.formats.stop_text import StopCutter


def cut(pieces: list[str], stops: list[str]) -> tuple[str, bool]:
    cutter = StopCutter(stops)
    text = "".join(cutter.push(piece) for piece in pieces)
    return text + cutter.flush(), cutter.stopped


@given(
    st.lists(st.text("ab", max_size=4), max_size=6),
    st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=4),
)
def test_pieces_do_not_matter_and_nothing_before_the_stop_is_lost(
    pieces: list[str], stops: list[str]
) -> None:
    whole = "".join(pieces)
    text, stopped = cut(pieces, stops)
    assert (text, stopped) == cut([whole], stops) == cut(list(whole), stops)
    assert whole.startswith(text)
    assert stopped == any(stop in whole for stop in stops)
    if not stopped:
        assert text == whole
    else:
        assert any(whole[len(text) :].startswith(stop) for stop in stops)


def test_text_waits_only_while_it_may_begin_a_stop() -> None:
    cutter = StopCutter(["END"])
    assert [cutter.push(p) for p in ("abc E", "N", "X E", "nd")] == ["abc ", "", "ENX ", "End"]

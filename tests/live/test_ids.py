import uuid

from hypothesis import given
from hypothesis import strategies as st

from zurelay.live.ids import Ids


@given(st.lists(st.floats(1e9, 2e9), min_size=2, max_size=50))
def test_ids_rise_whatever_the_clock_does(times: list[float]) -> None:
    moments = iter(times)
    ids = Ids(lambda: next(moments))
    made = [ids.request() for _ in times]
    assert made == sorted(set(made))


def test_more_ids_than_a_millisecond_counts_still_rise() -> None:
    ids = Ids(lambda: 1_795_953_600.0)
    made = [ids.hex() for _ in range(10_000)]
    assert made == sorted(set(made))


@given(st.floats(1e9, 2e9))
def test_an_id_is_a_uuid_of_version_7_that_holds_its_time(now: float) -> None:
    found = uuid.UUID(Ids(lambda: now).hex())
    assert found.version == 7
    assert found.variant == uuid.RFC_4122
    assert found.int >> 80 == int(now * 1000)


def test_two_processes_make_different_ids_in_the_same_moment() -> None:
    assert len({Ids(lambda: 1.0).hex() for _ in range(100)}) == 100


def test_an_answer_is_named_after_its_request() -> None:
    assert Ids.answer("req_ab12") == "chatcmpl-ab12"
    assert Ids.answer("req_ab12", "msg_") == "msg_ab12"
    assert Ids().request().startswith("req_")

"""Which route a conversation comes back to."""

from hypothesis import given
from hypothesis import strategies as st

from zurelay.formats.base import Inbound
from zurelay.plan.affinity import Affinity, conversation


def inbound(opening: bytes = b"", cache_key: str | None = None) -> Inbound:
    return Inbound("openai_chat", {}, "m", opening=opening, cache_key=cache_key)


def test_a_conversation_is_named_by_its_cache_key_before_its_opening() -> None:
    named = conversation("a", inbound(b"hello", "k"))
    assert named == conversation("a", inbound(b"other", "k"))
    assert named != conversation("a", inbound(b"hello"))


def test_without_a_cache_key_the_calling_key_and_the_opening_name_it() -> None:
    one = conversation("a", inbound(b"hello"), "key1")
    assert one == conversation("a", inbound(b"hello"), "key1")
    assert one != conversation("a", inbound(b"hello"), "key2")
    assert one != conversation("a", inbound(b"hello!"), "key1")


def test_two_accounts_never_share_a_conversation() -> None:
    for request in (inbound(b"hello"), inbound(cache_key="k")):
        assert conversation("a", request) != conversation("b", request)


def test_names_do_not_run_into_each_other() -> None:
    assert conversation("ab", inbound(b"c"), "d") != conversation("a", inbound(b"c"), "bd")
    assert conversation("a", inbound(cache_key="b")) != conversation("a", inbound(b"b"))


def test_a_request_without_either_has_no_name() -> None:
    assert conversation("a", inbound()) is None
    assert Affinity().find(None, 0.0) is None


def test_names_are_short_whatever_was_sent() -> None:
    name = conversation("a", inbound(b"x" * 10_000_000))
    assert name is not None
    assert len(name) == 16


def test_a_conversation_goes_back_to_the_route_that_served_it_last() -> None:
    affinity = Affinity()
    assert affinity.find(b"c", 0.0) is None
    affinity.remember(b"c", "r1", 0.0)
    affinity.remember(b"d", "r2", 0.0)
    assert affinity.find(b"c", 599.0) == "r1"
    affinity.remember(b"c", "r2", 599.0)
    assert affinity.find(b"c", 1198.0) == "r2"


def test_it_is_forgotten_after_ten_idle_minutes() -> None:
    affinity = Affinity()
    affinity.remember(b"c", "r", 0.0)
    assert affinity.find(b"c", 600.0) is None
    assert len(affinity) == 0


def test_it_lets_go_at_the_first_failure_of_that_route_only() -> None:
    affinity = Affinity()
    affinity.remember(b"c", "r1", 0.0)
    affinity.forget(b"c", "r2")
    assert affinity.find(b"c", 1.0) == "r1"
    affinity.forget(b"c", "r1")
    assert affinity.find(b"c", 1.0) is None
    affinity.forget(None, "r1")
    affinity.forget(b"unknown", "r1")


def test_the_longest_idle_makes_way_when_it_is_full() -> None:
    affinity = Affinity(most=2)
    affinity.remember(b"a", "r", 0.0)
    affinity.remember(b"b", "r", 1.0)
    affinity.remember(b"a", "r", 2.0)
    affinity.remember(b"c", "r", 3.0)
    assert affinity.find(b"b", 4.0) is None
    assert affinity.find(b"a", 4.0) == "r"
    assert affinity.find(b"c", 4.0) == "r"


def test_what_has_been_idle_too_long_goes_as_others_come() -> None:
    affinity = Affinity()
    for step in range(10):
        affinity.remember(b"old%d" % step, "r", float(step))
    for step in range(20):
        affinity.remember(b"new%d" % step, "r", 700.0 + step)
    assert len(affinity) == 20


@given(
    st.lists(
        st.tuples(
            st.sampled_from([b"a", b"b", b"c", b"d"]),
            st.sampled_from(["r1", "r2", ""]),
            st.floats(0, 700),
        )
    )
)
def test_it_never_tells_a_route_that_was_not_the_last_within_ten_minutes(
    script: list[tuple[bytes, str, float]],
) -> None:
    affinity, now = Affinity(most=3), 0.0
    last: dict[bytes, tuple[str, float]] = {}
    for name, route, pause in script:
        now += pause
        found = affinity.find(name, now)
        if found is not None:
            assert last[name][0] == found
            assert now - last[name][1] < 600
        if route:
            affinity.remember(name, route, now)
            last[name] = (route, now)
        assert len(affinity) <= 3


def test_others_are_told_of_what_is_new_and_not_of_every_turn() -> None:
    told: list[tuple[bytes, str]] = []
    affinity = Affinity(idle_s=600)
    affinity.told = lambda name, route: told.append((name, route))
    for turn in range(5):
        affinity.remember(b"a", "one", turn * 100.0)
    affinity.remember(b"a", "two", 500.0)
    affinity.remember(b"a", "two", 900.0)
    assert told == [(b"a", "one"), (b"a", "two"), (b"a", "two")]


def test_what_is_learnt_is_known_and_told_to_nobody() -> None:
    told: list[bytes] = []
    affinity = Affinity()
    affinity.told = lambda name, _route: told.append(name)
    affinity.learn(b"a", "one", 0.0)
    assert affinity.find(b"a", 1.0) == "one"
    affinity.remember(b"a", "one", 2.0)
    assert told == []

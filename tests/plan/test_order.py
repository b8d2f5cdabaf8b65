"""In which order a model's routes are tried."""

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.plan.made import model, provider, route, served
from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.profile import Profile
from zurelay.formats.base import Ability
from zurelay.plan.health import Health
from zurelay.plan.order import Order
from zurelay.plan.route import Route, ServedModel

DOWN = Fault(FaultKind.SERVER_ERROR)


def order(
    routes: Sequence[Route],
    *,
    health: Health | None = None,
    now: float = 0.0,
    draws: Sequence[float] = (),
    warm: str | None = None,
    needs: Mapping[Ability, str] | None = None,
    of: ServedModel | None = None,
) -> list[str]:
    left = list(draws)
    sort = Order(
        health or Health(), now, lambda: left.pop(0) if left else 0.5, warm, needs or {}
    ).sort
    return [r.provider.name for r in sort(of or served("m", routes), routes)]


def shares(
    routes: Sequence[Route], health: Health | None = None, now: float = 0.0, warm: str | None = None
) -> dict[str, float]:
    """How often each route comes first."""
    rounds = 4000
    sort = Order(health or Health(), now, Random(7).random, warm, {}).sort
    of = served("m", routes)
    first = Counter(sort(of, routes)[0].provider.name for _ in range(rounds))
    return {r.provider.name: first[r.provider.name] / rounds for r in routes}


def test_lower_priority_comes_first_whatever_the_weights() -> None:
    routes = [route("p", priority=2, weight=99), route("q", priority=1, weight=0.01), route("r")]
    assert order(routes, draws=[0.99, 0.01, 0.5])[-1] == "p"


def test_inside_one_priority_weights_share_the_load() -> None:
    found = shares([route("p", weight=3), route("q", weight=1)])
    assert found["p"] == pytest.approx(0.75, abs=0.03)
    found = shares([route("p", weight=1), route("q", weight=1), route("r", weight=2)])
    assert found["r"] == pytest.approx(0.5, abs=0.03)
    assert found["p"] == pytest.approx(0.25, abs=0.03)


def test_a_weight_of_zero_is_tried_last_in_its_priority_even_at_the_lowest_draw() -> None:
    routes = [route("p", weight=0), route("q"), route("r", priority=2)]
    assert order(routes, draws=[0.0, 0.5]) == ["q", "p", "r"]


def test_a_warm_route_comes_first_inside_its_priority_only() -> None:
    routes = [route("p"), route("q", weight=0.001), route("r", priority=0)]
    assert order(routes, warm="q:u") == ["r", "q", "p"]
    assert shares(routes[:2], warm="q:u")["q"] == 1.0


def test_a_busy_route_gives_up_its_warm_conversations() -> None:
    busy = route(provider("p", most=10))
    health = Health()
    for attempts, first in ((8, "p"), (9, "q")):
        while health.load(busy) < attempts / 10:
            health.began(busy, 0.0)
        assert order([busy, route("q")], health=health, warm="p:u", draws=[0.1, 0.9])[0] == first


def test_what_cannot_be_tried_now_comes_last_even_if_warm() -> None:
    routes = [route("p"), route("q", priority=9), route("r")]
    health = Health()
    health.failed(routes[0], Fault(FaultKind.RATE_LIMITED, retry_after=9.0), 0.0)
    for _ in range(10):
        health.failed(routes[2], DOWN, 0.0)
    assert order(routes, health=health, now=1.0, warm="p:u") == ["q", "p", "r"]


def test_a_recovering_route_gets_its_share_back_over_a_minute() -> None:
    routes = [route("p", priority=1), route("q", priority=2)]
    health = Health()
    for _ in range(10):
        health.failed(routes[0], DOWN, 0.0)
    health.began(routes[0], 15.0)
    health.succeeded(routes[0], 15.0)
    assert shares(routes, health, 30.0)["p"] == pytest.approx(0.25, abs=0.03)
    assert shares(routes, health, 60.0)["p"] == pytest.approx(0.75, abs=0.03)
    assert shares(routes, health, 30.0, warm="p:u")["p"] == pytest.approx(0.25, abs=0.03)
    assert shares(routes, health, 75.0)["p"] == 1.0


def timed(*figures: tuple[Route, float]) -> Health:
    health = Health()
    for each, seconds in figures:
        for _ in range(8):
            health.began(each, 0.0)
            health.succeeded(each, 0.0, seconds)
    return health


def test_first_token_times_correct_a_weight_by_a_factor_of_two_at_most() -> None:
    p, q = route("p"), route("q")
    assert shares([p, q], timed((p, 1.0), (q, 1.5)))["p"] == pytest.approx(0.6, abs=0.03)
    assert shares([p, q], timed((p, 1.0), (q, 50.0)))["p"] == pytest.approx(2 / 3, abs=0.03)
    assert shares([p, q], timed((q, 1.0)))["p"] == pytest.approx(0.5, abs=0.03)


def test_a_failing_route_gets_less_before_its_breaker_opens() -> None:
    p, q = route("p"), route("q")
    health = timed((p, 1.0), (q, 1.0))
    for _ in range(6):
        health.failed(p, DOWN, 0.0)
    assert shares([p, q], health)["p"] == pytest.approx(0.364, abs=0.03)


def test_a_dearer_route_gets_less_and_a_free_one_most() -> None:
    cheap, dear, free = model(price=(1, 1)), model(price=(30, 30)), model(price=(0, 0))
    p, q, r = route("p", model=cheap), route("q", model=dear), route("r")
    assert shares([p, q])["p"] == pytest.approx(2 / 3, abs=0.03)
    assert shares([p, r])["p"] == pytest.approx(0.5, abs=0.03)
    assert shares([p, route("f", model=free)])["f"] == pytest.approx(2 / 3, abs=0.03)
    assert shares([p, route("s", model=model(price=(1, 3)))])["p"] == pytest.approx(0.6, abs=0.03)


FORCED = {Ability.FORCED_TOOL: "tool_choice"}
SCHEMA = {Ability.JSON_SCHEMA: "response_format"}


def test_routes_that_take_forced_tools_come_first() -> None:
    routes = [
        route(provider("p", profile=Profile(forced_tools="never"))),
        route(provider("q", profile=Profile(forced_tools="not_thinking"))),
        route("r", priority=5),
    ]
    assert order(routes, needs=FORCED) == ["r", "q", "p"]
    assert order(routes, needs=SCHEMA)[-1] == "r"


def test_routes_with_native_structured_output_come_first() -> None:
    routes = [
        route(provider("p", profile=Profile(json_schema="none"))),
        route(provider("q", profile=Profile(json_schema="object"))),
        route(provider("r", profile=Profile(schema_with_tools=False)), priority=5),
        route("s", priority=9),
    ]
    assert order(routes, needs=SCHEMA) == ["r", "s", "q", "p"]
    assert order(routes, needs={**SCHEMA, Ability.TOOLS: "tools"})[0] == "s"


def test_quirks_of_the_model_count_too() -> None:
    quirky = model()
    quirky = type(quirky)("m", "m", "v", "m", quirks={"forced_tools": "never"})
    routes = [route("p", model=quirky), route("q", priority=5)]
    assert order(routes, needs=FORCED) == ["q", "p"]


@given(
    st.lists(st.tuples(st.integers(0, 2), st.floats(0, 10), st.booleans()), min_size=0, max_size=6),
    st.lists(st.floats(0, 0.999), max_size=12),
)
def test_every_route_is_there_once_in_the_order_of_priorities(
    given_routes: list[tuple[int, float, bool]], draws: list[float]
) -> None:
    health = Health()
    routes = []
    for number, (priority, weight, resting) in enumerate(given_routes):
        routes.append(route(f"p{number}", priority=priority, weight=weight))
        if resting:
            health.failed(routes[-1], Fault(FaultKind.RATE_LIMITED, retry_after=9.0), 0.0)
    found = order(routes, health=health, draws=draws)
    assert sorted(found) == sorted(r.provider.name for r in routes)
    by_name = {r.provider.name: r for r in routes}
    places = [(not health.is_up(by_name[n], 0.0), by_name[n].priority) for n in found]
    assert places == sorted(places)

"""The order of models: by cost, corrected by what is measured, with conversations that stay."""

from tests.plan.auto.made import a_model, serving, tiered, usd
from tests.plan.made import fail, provider, route, succeed
from zurelay.access.auto import AutoRules, Weights
from zurelay.catalogue.model import Model, Price
from zurelay.catalogue.sandbox import SANDBOX_MODELS
from zurelay.chat.faults import FaultKind
from zurelay.plan.auto.cost import expected
from zurelay.plan.auto.features import Features
from zurelay.plan.auto.pool import pool_of
from zurelay.plan.auto.ranking import MOST_MODELS, Ranking, rank, stand_ins
from zurelay.plan.auto.shapes import Shape, shape_of
from zurelay.plan.health import Health

CHAT = Features("chat", 1000)
ABC = (a_model("a", usd(1, 1)), a_model("b", usd(1.2, 1.2)), a_model("c", usd(3, 3)))


def shape(
    *models: Model, features: Features = CHAT, tier: int = 1, rules: AutoRules | None = None
) -> Shape:
    return shape_of(
        pool_of(serving(*models), rules or AutoRules(), lambda _: True), features, {}, tier, 0.0
    )


def ranked(
    of: Shape,
    health: Health | None = None,
    warm: str | None = None,
    features: Features = CHAT,
    weights: Weights | None = None,
) -> Ranking:
    return rank(of, features, health or Health(), 0.0, weights or Weights(), warm)


def ids(ranking: Ranking) -> list[str]:
    return [one.row.entry.id for one in ranking.models]


def of_route(name: str) -> str:
    return f"at-{name}:{name}"


def the_route(name: str):  # type: ignore[no-untyped-def]
    return route(provider(f"at-{name}"), name)


def test_the_cheapest_comes_first_and_costs_are_told() -> None:
    found = ranked(shape(*reversed(ABC)))
    assert (ids(found), found.why, found.met) == (["a", "b", "c"], "cheapest", 3)
    rates = found.models[0].row.rates
    assert rates is not None
    assert found.models[0].cost == expected(rates, CHAT)


def test_equals_keep_the_order_of_the_table() -> None:
    models = [a_model(name, usd(1, 1)) for name in "zyx"]
    assert ids(ranked(shape(*models))) == ["z", "y", "x"]


def test_a_tier_that_is_met_comes_before_any_cost() -> None:
    rules = tiered(a="light", b="strong", c="strong")
    assert ids(ranked(shape(*ABC, tier=3, rules=rules))) == ["b", "c", "a"]


def test_a_ranking_has_an_end() -> None:
    models = [a_model(f"m{n}", usd(n, n)) for n in range(1, 30)]
    assert ids(ranked(shape(*models))) == [f"m{n}" for n in range(1, MOST_MODELS + 1)]


def test_models_that_are_down_come_last() -> None:
    health = Health()
    fail(health, the_route("a"), FaultKind.RATE_LIMITED, retry_after=60)
    assert ids(ranked(shape(*ABC), health)) == ["b", "c", "a"]


def test_with_many_down_the_others_are_still_found() -> None:
    models = [a_model(f"m{n}", usd(n, n)) for n in range(1, 60)]
    health = Health()
    for n in range(1, 50):
        fail(health, the_route(f"m{n}"), FaultKind.RATE_LIMITED, retry_after=60)
    assert ids(ranked(shape(*models), health))[:3] == ["m50", "m51", "m52"]


def test_the_cheapest_is_asked_where_all_are_down() -> None:
    health = Health()
    for one in ABC:
        fail(health, the_route(one.id), FaultKind.RATE_LIMITED, retry_after=60)
    assert ids(ranked(shape(*ABC), health)) == ["a", "b", "c"]


def test_first_tokens_that_come_late_make_a_model_dearer_by_twice_at_most() -> None:
    health = Health()
    for _ in range(5):
        succeed(health, the_route("a"), first=90.0)
        succeed(health, the_route("b"), first=1.0)
        succeed(health, the_route("c"), first=1.0)
    found = ranked(shape(*ABC), health)
    assert (ids(found), found.why) == (["b", "a", "c"], "corrected")
    assert ids(ranked(shape(*ABC), health, weights=Weights(speed=0)))[0] == "a"


def test_failures_make_a_model_dearer() -> None:
    health = Health()
    for place in range(12):
        if place % 4:
            succeed(health, the_route("a"))
        else:
            fail(health, the_route("a"), FaultKind.EMPTY)
    assert ids(ranked(shape(*ABC), health))[0] == "b"
    assert ids(ranked(shape(*ABC), health, weights=Weights(success=0)))[0] == "a"


def test_without_a_weight_on_cost_speed_alone_decides() -> None:
    health = Health()
    for _ in range(5):
        succeed(health, the_route("a"), first=2.0)
        succeed(health, the_route("c"), first=1.0)
    assert ids(ranked(shape(*ABC), health, weights=Weights(cost=0)))[:2] == ["b", "c"]


CACHING = Price({**usd(1.5, 1.5).classes, "cached_input": 10**11})


def test_a_conversation_stays_with_its_model_while_that_is_not_much_dearer() -> None:
    of = shape(*ABC)
    found = ranked(of, warm=of_route("b"))
    assert (ids(found), found.why) == (["b", "a", "c"], "stays")
    assert ids(ranked(of, warm=of_route("c"))) == ["a", "b", "c"]
    assert ids(ranked(of, warm=of_route("c"), weights=Weights(stay=10))) == ["c", "a", "b"]
    assert ids(ranked(of, warm=of_route("b"), weights=Weights(stay=0))) == ["a", "b", "c"]
    assert ranked(of, warm=of_route("a")).why == "cheapest"


def test_its_prompt_cache_counts_for_it() -> None:
    of = shape(a_model("a", usd(1, 1)), a_model("b", CACHING))
    found = ranked(of, warm=of_route("b"))
    rates = of.rows["b"].rates
    assert rates is not None
    assert found.models[0].cost == expected(rates, CHAT, cached=True) < expected(rates, CHAT)


def test_it_lets_go_of_a_model_that_is_below_the_tier_or_down_or_gone() -> None:
    rules = tiered(a="strong", b="light", c="strong")
    assert ids(ranked(shape(*ABC, tier=3, rules=rules), warm=of_route("b")))[0] == "a"
    health = Health()
    fail(health, the_route("b"), FaultKind.RATE_LIMITED, retry_after=60)
    assert ids(ranked(shape(*ABC), health, warm=of_route("b")))[0] == "a"
    assert ids(ranked(shape(*ABC), warm="elsewhere:x"))[0] == "a"


def test_a_model_without_a_price_comes_after_those_with_one() -> None:
    models = (a_model("x"), a_model("dear", usd(900, 900)), a_model("free", usd(0, 0)))
    found = ranked(shape(*models, rules=AutoRules(allow=("x", "dear", "free"))))
    assert ids(found) == ["free", "dear", "x"]
    assert found.models[-1].cost == float("inf")


def test_stand_ins_come_in_the_order_given_and_what_is_down_last() -> None:
    of = shape(*SANDBOX_MODELS)
    order = ("sandbox/json", "sandbox/echo")
    found = stand_ins(of, CHAT, order, Health(), 0.0)
    assert ids(found)[:2] == list(order)
    assert len(found.models) == 4
    assert found.why == "stands in"

"""Which models can do a request, in which groups, and for how long that holds."""

from datetime import UTC, datetime
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.plan.auto.made import AT, LEVELS, USD, a_model, serving, tiered, usd
from tests.plan.made import provider, route
from zurelay.access.auto import AutoRules, Ceiling
from zurelay.catalogue.model import Hours, Model, Price, Reasoning
from zurelay.chat.profile import Profile
from zurelay.formats.base import Ability
from zurelay.plan.auto import shapes
from zurelay.plan.auto.cost import expected
from zurelay.plan.auto.features import Features
from zurelay.plan.auto.pool import Pool, pool_of
from zurelay.plan.auto.shapes import SHORTLIST, Group, Shape, shape_of
from zurelay.plan.route import Route

CHAT = Features("chat", 100)


def pool(*models: Model, rules: AutoRules | None = None, **routes: list[Route]) -> Pool:
    return pool_of(
        serving(*models, rules=None, routes=routes), rules or AutoRules(), lambda _: True
    )


def shape(of: Pool, features: Features = CHAT, tier: int = 1, at: float = AT) -> Shape:
    needs: dict[Ability, str] = dict.fromkeys(map(Ability, features.media), "messages[0]")
    if features.tools:
        needs[Ability.TOOLS] = "tools"
    if features.schema:
        needs[Ability.JSON_SCHEMA] = "response_format"
    return shape_of(of, features, needs, tier, at)


def groups(of: Shape) -> list[set[str]]:
    return [ids(group) for group in of.groups]


def ids(group: Group) -> set[str]:
    return {terms[-1].entry.id for terms in group.terms}


def why(of: Shape) -> dict[str, str]:
    return {one.model: one.why for one in of.barred}


def test_what_the_request_has_rules_models_out() -> None:
    deaf = a_model("deaf", usd(1, 1), kinds=("text",))
    no_tools = a_model("no-tools", usd(1, 1), tools=False)
    unknown = a_model("unknown", usd(1, 1), kinds=(), tools=None)
    found = shape(
        pool(deaf, no_tools, unknown), Features("vision", 9, media=("image",), tools=True)
    )
    assert groups(found) == [{"unknown"}]
    assert why(found) == {"deaf": "takes no images", "no-tools": "takes no tools"}


def test_the_window_must_hold_prompt_and_answer() -> None:
    small = a_model("small", usd(1, 1), context=1000)
    large = a_model("large", usd(1, 1), context=2000)
    both = pool(small, large)
    assert groups(shape(both, Features("chat", 900, output=100))) == [{"small", "large"}]
    found = shape(both, Features("chat", 900, output=101))
    assert (groups(found), why(found)) == ([{"large"}], {"small": shapes.SMALL})


def test_where_no_window_holds_it_those_are_asked_that_may() -> None:
    both = pool(
        a_model("small", usd(1, 1), context=1000), a_model("large", usd(1, 1), context=2000)
    )
    assert groups(shape(both, Features("chat", 2400, output=5000))) == [{"large"}]
    found = shape(both, Features("chat", 2401))
    assert (groups(found), why(found)) == ([], {"small": shapes.SMALL, "large": shapes.SMALL})


def test_dearer_models_than_the_ceiling_are_out() -> None:
    models = (a_model("a", usd(1, 9)), a_model("b", usd(2, 5)), a_model("c", usd(1, 5)))
    rules = AutoRules(ceiling=Ceiling(input=1 * USD, output=5 * USD))
    found = shape(pool(*models, rules=rules))
    assert (groups(found), why(found)) == ([{"c"}], {"a": shapes.DEARER, "b": shapes.DEARER})
    rules = AutoRules(allow=("d",), ceiling=Ceiling(input=1 * USD))
    assert groups(shape(pool(a_model("d"), rules=rules))) == []


def test_the_ceiling_is_held_against_the_price_of_a_prompt_of_that_size() -> None:
    stepped = a_model("a", usd(1, 1, above=((1000, usd(3, 3)),)))
    of = pool(stepped, rules=AutoRules(ceiling=Ceiling(input=2 * USD)))
    assert groups(shape(of, Features("chat", 800))) == [{"a"}]
    assert groups(shape(of, Features("chat", 801))) == []


def test_only_routes_within_the_ceiling_are_left_and_the_dearest_of_them_counts() -> None:
    cheap, dear, backup = (
        route(provider(name), "m", model=a_model("m", usd(price, 1)), priority=priority)
        for name, price, priority in (("x", 1, 1), ("y", 2, 1), ("z", 4, 2))
    )
    base = a_model("m", usd(1, 1))
    row = shape(pool(base, m=[backup, dear, cheap])).rows["m"]
    assert [one.id for one in row.routes] == ["y:m", "x:m", "z:m"]
    assert row.rates is not None and row.rates.input == 2000
    rules = AutoRules(ceiling=Ceiling(input=3 * USD))
    row = shape(pool(base, rules=rules, m=[backup, dear, cheap])).rows["m"]
    assert [one.id for one in row.routes] == ["y:m", "x:m"]


def test_retired_models_are_out_from_the_day_after() -> None:
    of = pool(a_model("a", usd(1, 1), retires="2026-11-30"))
    last = datetime(2026, 11, 30, 23, 59, tzinfo=UTC).timestamp()
    assert groups(shape(of, at=last)) == [{"a"}]
    assert why(shape(of, at=last + 60)) == {"a": shapes.RETIRED}


def test_what_must_be_made_up_for_comes_after_what_is_native_whatever_the_tier() -> None:
    plain = Profile(json_schema="object")
    words = route(provider("w", profile=plain), "words")
    models = (
        a_model("words", usd(1, 1)),
        a_model("native", usd(1, 1)),
        a_model("dull", usd(1, 1), reasoning=Reasoning(())),
        a_model("short", usd(1, 1), max_output=10),
    )
    rules = tiered(words="strong", native="light", dull="strong", short="strong")
    of = pool(*models, rules=rules, words=[words])
    found = shape(of, Features("extraction", 9, schema=True, effort="high", output=99), tier=3)
    assert groups(found) == [{"native"}, {"words", "dull", "short"}]


def test_tiers_below_come_after_by_how_far_they_are_and_unrated_ones_last() -> None:
    models = [a_model(name, usd(1, 1)) for name in ("a", "b", "c", "d", "e")]
    rules = tiered(a="light", b="standard", c="strong", d="frontier")
    assert groups(shape(pool(*models, rules=rules), tier=3)) == [{"c", "d"}, {"b"}, {"a"}, {"e"}]


def test_a_shape_is_worked_out_once_and_anew_when_a_price_changes() -> None:
    night = Hours(frozenset(range(1, 8)), 0, 60)
    hourly = Price(usd(2, 2).classes, hours=(((night,), usd(1, 1)),))
    of = pool(a_model("a", hourly))
    noon = datetime(2026, 11, 28, 12, tzinfo=UTC).timestamp()
    found = shape(of, at=noon)
    assert shape(of, Features("chat", 200), at=noon + 3600) is found
    assert found.until == noon + 12 * 3600
    later = shape(of, at=found.until)
    assert later is not found
    assert later.rows["a"].rates is not None and later.rows["a"].rates.input == 1000
    assert later.until == found.until + 3600


def test_shapes_do_not_pile_up() -> None:
    of = pool(*(a_model(f"m{n}", usd(1, 1), context=n) for n in range(1, 400)))
    for size in range(1, 400):
        shape(of, Features("chat", size))
    assert len(of.made) <= 256


def test_each_tier_and_each_asked_length_has_a_shape_of_its_own() -> None:
    short = a_model("short", usd(1, 1), max_output=10)
    both = pool(short, a_model("long", usd(1, 1)), rules=tiered(short="strong", long="light"))
    assert groups(shape(both, tier=1)) == [{"short", "long"}]
    assert groups(shape(both, tier=3)) == [{"short"}, {"long"}]
    assert groups(shape(both, Features("chat", 100, output=10))) == [{"short", "long"}]
    assert groups(shape(both, Features("chat", 100, output=11))) == [{"long"}, {"short"}]


RATE = st.integers(0, 8)
OFFER = st.tuples(RATE, RATE, st.booleans(), RATE, st.sampled_from([None, 5, 600, 9000]))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(OFFER, min_size=30, max_size=80),
    st.integers(1, 50_000),
    st.sampled_from([None, 1, 300, 20_000]),
)
def test_the_cheapest_are_always_among_the_leading(
    offers: list[tuple[int, int, bool, int, int | None]], tokens: int, output: int | None
) -> None:
    models = [
        a_model(
            f"m{n}",
            usd(i, o, per_request=fee * 100_000),
            reasoning=LEVELS if thinks else Reasoning(()),
            max_output=most,
        )
        for n, (i, o, thinks, fee, most) in enumerate(offers)
    ]
    features = Features("chat", tokens, output=output)
    found = shape(pool(*models), features)

    def costs(part: tuple[Group, ...]) -> list[float]:
        best: list[float] = []
        for group in part:
            rows = [terms[-1] for terms in group.terms]
            best += sorted(expected(row.rates, features) for row in rows if row.rates)
        return best[:SHORTLIST]

    assert costs(found.leading) == costs(found.groups)


def test_what_costs_less_by_its_fee_or_its_short_answers_is_kept() -> None:
    plain = [a_model(f"m{n}", usd(1, 1, per_request=1000)) for n in range(30)]
    other = (a_model("no-fee", usd(1.1, 1.1)), a_model("curt", usd(1.1, 1.1), max_output=5))
    leading = shape(pool(*plain, *other)).leading
    assert {"no-fee", "curt"} <= ids(leading[0])
    assert len(leading[0].terms) < len(plain)


def test_most_models_of_a_large_table_need_not_be_looked_at() -> None:
    models = [a_model(f"m{i}-{o}", usd(i, o)) for i, o in product(range(1, 23), range(1, 23))]
    found = shape(pool(*models))
    assert len(found.groups[0].terms) == 484
    assert len(found.leading[0].terms) < 40

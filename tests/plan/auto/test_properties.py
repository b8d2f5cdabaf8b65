"""What holds for every choice, whatever is served and asked."""

from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.plan.auto.made import (
    AT,
    IMAGE,
    SCHEMA,
    TOOLS,
    USD,
    a_key,
    a_model,
    asking,
    chosen,
    ids,
    serving,
)
from tests.plan.made import provider, route
from zurelay.access.auto import AutoRules, Ceiling, Weights
from zurelay.catalogue.model import Model, Price, Reasoning
from zurelay.catalogue.price import price_at
from zurelay.chat.effort import SCALE
from zurelay.chat.estimate import prompt_tokens
from zurelay.chat.problems import Refused
from zurelay.formats.base import Ability, Inbound
from zurelay.meter.charge import at_size
from zurelay.plan.abilities import lacking
from zurelay.plan.affinity import Affinity
from zurelay.plan.route import RoutingTable

AMOUNTS = st.integers(0, 30).map(lambda amount: amount * USD)
PRICES = st.none() | st.builds(
    lambda i, o, c, steps: Price(
        {"input": i, "output": o, **({} if c is None else {"cached_input": c})},
        above=tuple((size, Price({"input": 2 * i, "output": 2 * o})) for size in steps),
    ),
    AMOUNTS,
    AMOUNTS,
    st.none() | AMOUNTS,
    st.lists(st.sampled_from([50, 2000]), max_size=1),
)
LEVELS = st.none() | st.lists(st.sampled_from(SCALE), unique=True, max_size=4).map(
    lambda levels: Reasoning(tuple(level for level in SCALE if level in levels))
)


@st.composite
def tables(draw: st.DrawFn) -> RoutingTable:
    models: list[Model] = []
    routes = {}
    for number in range(draw(st.integers(1, 12))):
        name = f"m{number}"
        facts: dict[str, Any] = {
            "context": draw(st.sampled_from([None, 60, 3000, 100_000])),
            "max_output": draw(st.sampled_from([None, 20, 5000])),
            "kinds": draw(st.sampled_from([(), ("text",), ("text", "image")])),
            "tools": draw(st.sampled_from([None, True, False])),
            "reasoning": draw(LEVELS),
        }
        models.append(a_model(name, draw(PRICES), **facts))
        routes[name] = [
            route(
                provider(f"p{place}"),
                name,
                priority=draw(st.integers(1, 2)),
                model=a_model(name, draw(PRICES), **facts) if draw(st.booleans()) else None,
            )
            for place in range(draw(st.integers(1, 3)))
        ]
    names = [one.id for one in models]
    some = st.lists(st.sampled_from([*names, "*", "m1*"]), max_size=3, unique=True)
    rules = AutoRules(
        allow=tuple(draw(some)),
        exclude=tuple(draw(some.filter(lambda of: "*" not in of))),
        tiers=tuple((name, draw(st.integers(1, 4))) for name in names if draw(st.booleans())),
        ceiling=Ceiling(draw(st.none() | AMOUNTS), draw(st.none() | AMOUNTS)),
        weights=Weights(stay=draw(st.sampled_from([0.0, 2.0, 100.0]))),
    )
    return serving(*models, rules=rules, routes=routes)


@st.composite
def requests(draw: st.DrawFn) -> Inbound:
    fields: dict[str, Any] = {}
    if draw(st.booleans()):
        fields["reasoning_effort"] = draw(st.sampled_from(SCALE))
    if draw(st.booleans()):
        fields["max_tokens"] = draw(st.sampled_from([1, 100, 4000]))
    if draw(st.booleans()):
        fields["tools"] = TOOLS
    if draw(st.booleans()):
        fields["response_format"] = SCHEMA
    if draw(st.booleans()):
        fields["messages"] = IMAGE
    return asking("word " * draw(st.sampled_from([1, 30, 3000])), **fields)


def served_prices(table: RoutingTable, model_id: str, of_route: str) -> Price | None:
    served = table.models[model_id]
    found = next(one for one in served.routes if one.id == of_route)
    return price_at(found.model or served.model, AT)


@settings(max_examples=300, deadline=None)
@given(tables(), requests())
def test_no_choice_lacks_what_is_needed_or_is_dearer_than_the_ceiling(
    table: RoutingTable, inbound: Inbound
) -> None:
    assert table.auto is not None
    rules = table.auto.rules
    try:
        choice = chosen(table, inbound)
    except Refused as refused:
        assert refused.problem.status == 400
        return
    tokens = prompt_tokens(inbound.text_length, inbound.media_count)
    whole = tokens + (inbound.max_output or 0)
    for row in choice.rows:
        model = row.entry.served.model
        assert rules.allowed_by(model.id) is not None
        assert not rules.excludes(model.id)
        for one in row.routes:
            assert lacking(row.entry.served, one, inbound.needs) is None
            here = one.model or model
            window = here.context or model.context or 10**9
            assert tokens <= 1.2 * window
            if whole > window:  # then no model's window was large enough
                assert all(
                    (other.model.context or 10**9) < whole
                    for other in table.models.values()
                    if can_but_for_its_window(table, other.model.id, inbound)
                )
            price = served_prices(table, model.id, one.id)
            if price is None:
                assert model.id in rules.allow
                continue
            sized = at_size(price, tokens * 5 // 4)
            for most, rate in (
                (rules.ceiling.input, sized.rates[0]),
                (rules.ceiling.output, sized.rates[6]),
            ):
                assert most is None or rate <= most


def can_but_for_its_window(table: RoutingTable, model_id: str, inbound: Inbound) -> bool:
    """Whether a table whose every window is large would choose it for the request."""
    from dataclasses import replace

    wide = {
        name: replace(
            one,
            model=replace(one.model, context=None),
            routes=tuple(
                replace(r, model=r.model and replace(r.model, context=None)) for r in one.routes
            ),
        )
        for name, one in table.models.items()
        if name == model_id
    }
    try:
        chosen(RoutingTable(wide, table.auto), inbound)
    except Refused:
        return False
    return True


@settings(max_examples=100, deadline=None)
@given(tables(), requests(), st.lists(st.integers(0, 11), min_size=1, max_size=4, unique=True))
def test_models_narrow_the_choice_and_never_widen_it(
    table: RoutingTable, inbound: Inbound, places: list[int]
) -> None:
    named = [f"m{place}" for place in places if f"m{place}" in table.models]
    assume(named)
    try:
        narrow = set(ids(chosen(table, inbound, among=named)))
    except Refused:
        return
    assert narrow <= set(named)
    again = chosen(table, inbound, key=a_key(models=tuple(named)))
    assert set(ids(again)) == narrow


@settings(max_examples=100, deadline=None)
@given(tables(), requests())
def test_a_choice_is_deterministic_and_its_order_is_by_group_then_cost(
    table: RoutingTable, inbound: Inbound
) -> None:
    fresh = RoutingTable(table.models, table.auto)
    try:
        first, second = chosen(table, inbound), chosen(fresh, inbound)
    except Refused as refused:
        try:
            chosen(fresh, inbound)
        except Refused as again:
            assert again.problem == refused.problem
            return
        raise
    assert first.record == second.record
    groups = [(row.lacks, row.shortfall) for row in first.rows]
    assert groups == sorted(groups)
    costs = [one.cost if one.cost is not None else 10**18 for one in first.record.ranking]
    for place in range(1, len(groups)):
        if groups[place] == groups[place - 1]:
            assert costs[place - 1] <= costs[place] + 1


@settings(max_examples=100, deadline=None)
@given(tables(), requests(), st.integers(0, 5))
def test_a_conversation_stays_only_with_a_model_that_could_be_first(
    table: RoutingTable, inbound: Inbound, place: int
) -> None:
    try:
        before = chosen(table, inbound)
    except Refused:
        return
    assert before.conversation is not None
    assume(place < len(before.rows))
    kept = before.rows[place]
    affinity = Affinity()
    affinity.remember(before.conversation, kept.routes[0].id, 0.0)
    after = chosen(table, inbound, affinity=affinity)
    assert table.auto is not None
    assert set(ids(after)) == set(ids(before)) or len(before.rows) == 6
    if after.rows[0] is not before.rows[0]:
        assert after.rows[0] is kept
        first = before.rows[0]
        assert (kept.lacks, kept.shortfall) == (first.lacks, first.shortfall)
        if before.record.ranking[0].cost is not None:
            told = after.record.ranking[0].cost
            assert told is not None
            most = table.auto.rules.weights.stay * before.record.ranking[0].cost
            assert told <= most + table.auto.rules.weights.stay + 1


def test_the_properties_meet_both_answers() -> None:
    """Choices and refusals both come up above; a table of nothing refuses."""
    assert Ability.TOOLS in asking(tools=TOOLS).needs
    table = serving(a_model("m0", None))
    try:
        chosen(table, asking())
    except Refused as refused:
        assert refused.problem.status == 400
    else:
        raise AssertionError

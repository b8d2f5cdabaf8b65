"""Which models may be chosen at all, and what keeps the others out."""

from tests.plan.auto.made import a_model, serving, tiered, usd
from zurelay.access.auto import AutoRules
from zurelay.catalogue.model import Model
from zurelay.catalogue.sandbox import SANDBOX_MODELS
from zurelay.plan.auto import pool as reasons
from zurelay.plan.auto.pool import Named, Pool, only_sandbox, pool_among, pool_of
from zurelay.plan.auto.sandbox import STAND_INS
from zurelay.plan.route import RoutingTable

PRICED = a_model("a", usd(1, 2))
FREE = a_model("b", usd(0, 0))
UNPRICED = a_model("c")


def pool(*models: Model, rules: AutoRules | None = None, **more: object) -> Pool:
    return pool_of(serving(*models), rules or AutoRules(), lambda _: True)


def ids(of: Pool) -> list[str]:
    return [entry.id for entry in of.entries]


def why(of: Pool) -> dict[str, str]:
    return {one.model: one.why for one in of.barred}


def test_models_with_a_known_price_may_be_chosen_and_zero_is_one() -> None:
    found = pool(PRICED, FREE, UNPRICED)
    assert ids(found) == ["a", "b"]
    assert why(found) == {"c": reasons.NO_PRICE}


def test_an_operator_who_names_a_model_whole_needs_no_price_for_it() -> None:
    assert ids(pool(PRICED, UNPRICED, rules=AutoRules(allow=("c", "a")))) == ["a", "c"]
    assert ids(pool(PRICED, UNPRICED, rules=AutoRules(allow=("*",)))) == ["a"]


def test_patterns_allow_and_exclude() -> None:
    rules = AutoRules(allow=("gpt-*", "a"), exclude=("*-pro",))
    found = pool(
        a_model("gpt-6", usd(1, 1)), a_model("gpt-6-pro", usd(1, 1)), PRICED, FREE, rules=rules
    )
    assert ids(found) == ["gpt-6", "a"]
    assert why(found) == {"gpt-6-pro": reasons.EXCLUDED, "b": reasons.NOT_ALLOWED}


def test_models_that_the_key_may_not_use_are_not_even_named() -> None:
    found = pool_of(serving(PRICED, FREE), AutoRules(), lambda name: name == "b")
    assert ids(found) == ["b"]
    assert found.barred == ()


def test_sandbox_models_are_there_only_where_nothing_else_is() -> None:
    found = pool(*SANDBOX_MODELS, PRICED)
    assert (ids(found), found.sandbox) == (["a"], False)
    found = pool(*SANDBOX_MODELS)
    assert (sorted(ids(found)), found.sandbox) == (sorted(STAND_INS), True)


def test_an_operator_may_allow_them_beside_others() -> None:
    found = pool(*SANDBOX_MODELS, PRICED, rules=AutoRules(allow=("sandbox/lorem", "a")))
    assert ids(found) == ["sandbox/lorem", "a"]
    assert not found.sandbox


def test_a_request_may_name_any_sandbox_model_where_nothing_else_is() -> None:
    table = serving(*SANDBOX_MODELS)
    named = [
        Named(table.models["sandbox/error"], "?status=503"),
        Named(table.models["sandbox/echo"]),
    ]
    found = pool_among(table, AutoRules(), named)
    assert ids(found) == ["sandbox/error", "sandbox/echo"]
    assert found.entries[0].parameters == "?status=503"
    both = serving(*SANDBOX_MODELS, PRICED)
    found = pool_among(both, AutoRules(), [Named(both.models["sandbox/echo"])])
    assert why(found) == {"sandbox/echo": reasons.NO_SANDBOX}


def test_embeddings_are_never_chosen_and_do_not_end_the_sandbox() -> None:
    vectors = Model("e", "e", "v", "e", price=usd(1, 1), mode="embeddings")
    table = serving(vectors, *SANDBOX_MODELS)
    assert only_sandbox(table)
    assert ids(pool_of(table, AutoRules(), lambda _: True)) != []
    found = pool_among(table, AutoRules(), [Named(table.models["e"])])
    assert why(found) == {"e": reasons.NO_ANSWERS}


def test_between_equals_the_newer_of_a_line_comes_first_then_the_tables_order() -> None:
    names = ("z", "gpt-6-sol", "a", "gpt-6.2-sol", "gpt-6.1-sol")
    table = serving(*(a_model(name, usd(1, 1)) for name in names))
    found = pool_of(table, AutoRules(), lambda _: True)
    assert ids(found) == ["gpt-6.2-sol", "gpt-6.1-sol", "gpt-6-sol", "z", "a"]
    assert [entry.place for entry in found.entries] == [0, 1, 2, 3, 4]
    named = [Named(table.models[name]) for name in names]
    assert ids(pool_among(table, AutoRules(), named)) == list(names)


def test_a_model_that_was_stopped_is_not_chosen() -> None:
    table = serving(PRICED, FREE, routes={"a": []})
    found = pool_of(table, AutoRules(), lambda _: True)
    assert ids(found) == ["b"]
    assert why(found) == {"a": reasons.STOPPED}


def test_stated_tiers_give_way_to_the_operators_word() -> None:
    haiku = a_model("claude-haiku-5-5", usd(1, 1))
    assert [e.tier for e in pool(haiku, PRICED).entries] == [1, 0]
    rules = tiered(**{"claude-haiku-5-5": "strong", "a": "light"})
    assert [e.tier for e in pool(haiku, PRICED, rules=rules).entries] == [3, 1]


def test_the_bounds_at_which_anything_changes_are_known() -> None:
    stepped = usd(1, 1, above=((500, usd(2, 2)),))
    found = pool(
        a_model("a", stepped, context=10, max_output=5), a_model("b", usd(1, 1), context=20)
    )
    assert (found.windows, found.outputs, found.steps) == ((10, 20), (5, 50_000), (500,))
    assert pool_of(RoutingTable(), AutoRules(), lambda _: True).entries == ()

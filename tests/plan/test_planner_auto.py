"""Plans where the choice of the model is left to the gateway."""

import pytest

from tests.plan.auto.made import AT, AUTO, SCHEMA, a_key, a_model, asking, serving, tiered, usd
from tests.plan.made import provider, route
from zurelay.access.keys import Key
from zurelay.catalogue.model import Reasoning
from zurelay.catalogue.sandbox import SANDBOX_MODELS
from zurelay.chat.problems import Problem, Refused
from zurelay.chat.profile import Profile
from zurelay.formats.base import Inbound
from zurelay.plan.affinity import Affinity
from zurelay.plan.health import Health
from zurelay.plan.planner import Plan, make_plan
from zurelay.plan.route import RoutingTable

MODELS = (
    a_model("small", usd(0.1, 0.5), reasoning=Reasoning(("none", "low"), "low")),
    a_model("large", usd(4, 20), reasoning=Reasoning(("high", "max"), "high")),
)
TABLE = serving(*MODELS, rules=tiered(small="light", large="strong"))


def plan(
    table: RoutingTable,
    inbound: Inbound,
    *,
    key: Key | None = None,
    health: Health | None = None,
    affinity: Affinity | None = None,
    hedge: bool = False,
) -> Plan:
    key = key or a_key()
    return make_plan(
        table,
        inbound,
        may_use=key.may_use,
        health=health or Health(),
        affinity=affinity or Affinity(),
        account="acct",
        now=0.0,
        draw=lambda: 0.5,
        hedge=hedge,
        key=key,
        wall=lambda: AT,
    )


def models(made: Plan) -> list[str]:
    return [c.public_model for c in made.candidates]


def refusal(table: RoutingTable, inbound: Inbound, **more: Key) -> Problem:
    with pytest.raises(Refused) as refused:
        plan(table, inbound, **more)  # type: ignore[arg-type]
    return refused.value.problem


def test_the_ranking_is_the_list_of_fallbacks() -> None:
    made = plan(TABLE, asking())
    assert (made.asked, models(made)) == (AUTO, ["small", "large"])
    assert made.auto is not None
    assert [one.model for one in made.auto.ranking] == ["small", "large"]
    assert all(c.ranked and not c.listed for c in made.candidates)


def test_effort_is_clamped_for_each_candidate_anew() -> None:
    made = plan(TABLE, asking(reasoning_effort="medium"))
    assert [(c.public_model, c.effort) for c in made.candidates] == [
        ("large", "high"),
        ("small", "low"),
    ]
    made = plan(TABLE, asking(reasoning_effort="high"))
    assert [c.effort for c in made.candidates] == ["high", "low"]


def test_every_route_of_a_model_is_asked_before_the_next_model() -> None:
    table = serving(
        *MODELS,
        routes={"small": [route(provider("x"), "s", priority=2), route(provider("y"), "s")]},
    )
    assert [c.route.id for c in plan(table, asking()).candidates] == [
        "y:s",
        "x:s",
        "at-large:large",
    ]


def test_the_conversation_is_named_even_with_one_candidate() -> None:
    table = serving(MODELS[0])
    made = plan(table, asking())
    assert len(made.candidates) == 1
    assert made.conversation is not None


def test_models_are_the_set_to_choose_from_and_count_as_listed() -> None:
    made = plan(TABLE, asking(models=["large", "large"]))
    assert models(made) == ["large"]
    assert made.candidates[0].listed


def test_an_empty_list_leaves_the_first_choice_alone() -> None:
    assert models(plan(TABLE, asking(models=[]))) == ["small"]


def test_unknown_and_forbidden_models_are_told_as_ever() -> None:
    told = refusal(TABLE, asking(models=["small", "smal"]))
    assert (told.status, told.param) == (400, "models[1]")
    told = refusal(TABLE, asking(models=["large"]), key=a_key(models=("small",)))
    assert (told.status, told.param) == (403, "models[0]")


def test_a_word_that_is_no_effort_is_told_with_all_levels() -> None:
    told = refusal(TABLE, asking(reasoning_effort="huge"))
    assert (told.status, told.param) == (400, "reasoning_effort")
    assert "none, minimal, low" in told.message


def test_sandbox_parameters_reach_the_sandbox() -> None:
    table = serving(*SANDBOX_MODELS)
    made = plan(table, asking(models=["sandbox/error?status=503", "sandbox/echo"]))
    assert [c.upstream_model for c in made.candidates] == [
        "sandbox/error?status=503",
        "sandbox/echo",
    ]


def test_embeddings_are_refused() -> None:
    inbound = Inbound("embeddings", {}, AUTO, alternatives=(), mode="embeddings")
    told = refusal(TABLE, inbound)
    assert (told.status, told.param) == (400, "model")
    assert "embeddings" in told.message


def test_a_table_without_a_smart_choice_does_not_know_the_name() -> None:
    assert refusal(RoutingTable(TABLE.models), asking()).code == "model_not_found"


def test_a_model_of_its_own_name_is_no_choice() -> None:
    assert plan(TABLE, asking(model="small")).auto is None


def test_routes_that_make_less_up_come_first_inside_a_model() -> None:
    words = route(provider("words", profile=Profile(json_schema="none")), "s")
    table = serving(*MODELS, routes={"small": [words, route(provider("y"), "s")]})
    made = plan(table, asking(response_format=SCHEMA))
    assert [c.route.id for c in made.candidates][:2] == ["y:s", "words:s"]


def test_every_model_that_is_ranked_can_be_asked() -> None:
    made = plan(TABLE, asking())
    assert made.auto is not None
    assert {one.model for one in made.auto.ranking} == set(models(made))

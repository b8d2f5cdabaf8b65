"""Models that answer and models that make embeddings are not taken for one another."""

from dataclasses import replace
from typing import Literal

import pytest
from msgspec import Raw

from tests.plan.made import model, provider, route, served, table
from zurelay.chat.problems import Problem, Refused
from zurelay.formats.base import Inbound
from zurelay.plan.affinity import Affinity
from zurelay.plan.health import Health
from zurelay.plan.planner import Plan, make_plan
from zurelay.plan.route import RoutingTable, ServedModel

Mode = Literal["chat", "embeddings"]


def of_mode(name: str, mode: Literal["chat", "embeddings", ""]) -> ServedModel:
    return served(replace(model(name), mode=mode))


TABLE = table(
    of_mode("talks", "chat"),
    of_mode("embeds", "embeddings"),
    of_mode("unknown", ""),
    served("plain"),
)


def plan(name: str, mode: Mode, known: RoutingTable = TABLE, models: tuple[str, ...] = ()) -> Plan:
    body = {"models": Raw(str(list(models)).replace("'", '"').encode())}
    inbound = Inbound(
        front="openai_chat", body=body, model=name, mode=mode, alternatives=models or None
    )
    return make_plan(
        known,
        inbound,
        may_use=lambda _: True,
        health=Health(),
        affinity=Affinity(),
        account="a",
        now=0.0,
        draw=lambda: 0.5,
    )


def refused(name: str, mode: Mode, known: RoutingTable = TABLE, *models: str) -> Problem:
    with pytest.raises(Refused) as caught:
        plan(name, mode, known, models)
    return caught.value.problem


@pytest.mark.parametrize(
    ("name", "mode"),
    [("talks", "chat"), ("embeds", "embeddings"), ("unknown", "chat"), ("unknown", "embeddings")],
)
def test_a_model_is_asked_for_what_it_gives_or_may_give(name: str, mode: Mode) -> None:
    assert [c.public_model for c in plan(name, mode).candidates] == [name]


def test_a_model_that_gives_something_else_is_a_clear_400() -> None:
    answers = refused("embeds", "chat")
    assert (answers.status, answers.param) == (400, "model")
    assert "/v1/embeddings" in answers.message
    vectors = refused("talks", "embeddings")
    assert (vectors.status, vectors.param) == (400, "model")


def test_the_kept_plan_of_one_kind_is_not_given_to_the_other() -> None:
    plan("unknown", "chat")
    foreign = provider()
    foreign = replace(foreign, kind=replace(foreign.kind, format="anthropic"))
    known = table(served("m", [route(foreign)]))
    assert plan("m", "chat", known).candidates
    assert refused("m", "embeddings", known).status == 400


def test_an_alternative_of_the_wrong_kind_is_named() -> None:
    assert refused("talks", "chat", TABLE, "plain", "embeds").param == "models[1]"


def test_a_fallback_of_the_wrong_kind_is_skipped() -> None:
    first = replace(of_mode("talks", "chat"), fallbacks=("embeds", "plain"))
    known = table(first, of_mode("embeds", "embeddings"), served("plain"))
    assert [c.public_model for c in plan("talks", "chat", known).candidates] == ["talks", "plain"]

"""One choice from request to ranking: who may choose, among what, and what the log is told."""

import json
from typing import Any

import pytest

from tests.plan.auto.made import (
    AUTO,
    IMAGE,
    SCHEMA,
    TOOLS,
    a_key,
    a_model,
    asking,
    chosen,
    ids,
    serving,
    tiered,
    usd,
)
from zurelay.access.auto import AutoRules, AutoTerms, Ceiling
from zurelay.catalogue.sandbox import SANDBOX_MODELS
from zurelay.chat.problems import Problem, Refused
from zurelay.formats.base import Inbound
from zurelay.plan.affinity import Affinity, conversation
from zurelay.plan.auto.choose import Caller, pool_for
from zurelay.plan.route import RoutingTable

MODELS = (
    a_model("small", usd(0.1, 0.5)),
    a_model("middle", usd(1, 5)),
    a_model("large", usd(4, 20)),
)
RULES = tiered(small="light", middle="standard", large="strong")
TABLE = serving(*MODELS, rules=RULES)


def refusal(table: RoutingTable, inbound: Inbound, **more: object) -> Problem:
    with pytest.raises(Refused) as refused:
        chosen(table, inbound, **more)  # type: ignore[arg-type]
    return refused.value.problem


def test_effort_and_signs_decide_the_tier_and_cost_the_model() -> None:
    assert ids(chosen(TABLE, asking()))[0] == "small"
    assert ids(chosen(TABLE, asking(tools=TOOLS)))[0] == "middle"
    assert ids(chosen(TABLE, asking(reasoning_effort="high")))[0] == "large"
    assert ids(chosen(TABLE, asking(reasoning_effort="none")))[0] == "small"


def test_the_same_request_gets_the_same_choice() -> None:
    first, second = (chosen(serving(*MODELS, rules=RULES), asking()) for _ in range(2))
    assert first.record == second.record


def test_the_log_is_told_features_ranking_and_reason() -> None:
    record = chosen(TABLE, asking("```x```", reasoning_effort="medium", max_tokens=100)).record
    assert record.tier == "strong"
    assert record.features == {
        "kind": "code",
        "tokens": record.features["tokens"],
        "effort": "medium",
        "max_output": 100,
        "turns": 1,
        "signs": ["code"],
    }
    assert [one.model for one in record.ranking] == ["large", "middle", "small"]
    assert [one.tier for one in record.ranking] == ["strong", "standard", "light"]
    tokens = record.features["tokens"]
    assert record.ranking[0].cost == tokens * 4000 + 100 * 20_000
    assert "large" in record.reason


def test_a_conversation_is_remembered_apart_from_those_with_a_model_by_name() -> None:
    affinity = Affinity()
    first = chosen(TABLE, asking(), affinity=affinity)
    assert first.conversation is not None
    assert first.conversation != conversation("acct", asking())
    cheap = serving(
        a_model("small", usd(0.1, 0.5)), a_model("other", usd(0.11, 0.5)), rules=tiered()
    )
    affinity.remember(first.conversation, "at-other:other", 0.0)
    again = chosen(cheap, asking(), affinity=affinity, now=10.0)
    assert (ids(again)[0], again.warm) == ("other", "at-other:other")
    assert ids(chosen(cheap, asking(), affinity=affinity, now=700.0))[0] == "small"
    assert ids(chosen(cheap, asking("Another"), affinity=affinity, now=10.0))[0] == "small"


def test_it_lets_go_when_the_conversation_outgrows_the_choice() -> None:
    affinity = Affinity()
    first = chosen(TABLE, asking(), affinity=affinity)
    assert first.conversation is not None
    affinity.remember(first.conversation, "at-small:small", 0.0)
    assert ids(chosen(TABLE, asking(), affinity=affinity))[0] == "small"
    assert ids(chosen(TABLE, asking(tools=TOOLS), affinity=affinity))[0] == "middle"


def test_models_of_the_request_narrow_the_choice() -> None:
    assert ids(chosen(TABLE, asking(), among=["large", "middle"])) == ["middle", "large"]
    assert ids(chosen(TABLE, asking(reasoning_effort="high"), among=["small"])) == ["small"]


def test_a_key_narrows_the_choice() -> None:
    assert ids(chosen(TABLE, asking(), key=a_key(models=("middle", "large")))) == [
        "middle",
        "large",
    ]


def test_a_key_may_have_terms_of_its_own() -> None:
    key = a_key(auto=AutoTerms(exclude=("small",), ceiling=Ceiling(output=10 * 10**12)))
    assert ids(chosen(TABLE, asking(), key=key)) == ["middle"]
    assert ids(chosen(TABLE, asking(), among=["large", "middle"], key=key)) == ["middle"]


def test_what_was_worked_out_for_a_kind_of_key_serves_all_of_its_kind() -> None:
    table = serving(*MODELS, rules=RULES)
    assert table.auto is not None

    def of(key) -> object:  # type: ignore[no-untyped-def]
        return pool_for(table, table.auto, Caller("acct", key.may_use, key))  # type: ignore[arg-type]

    assert of(a_key()) is of(a_key())
    assert of(a_key()) is not of(a_key(models=("small",)))
    for number in range(200):
        of(a_key(models=(f"m{number}",)))
    assert len(table.made["auto pools"]) <= 64


def test_nothing_left_says_what_ruled_each_model_out() -> None:
    told = refusal(
        serving(a_model("a"), a_model("b", usd(9, 9)), rules=AutoRules(exclude=("b",))), asking()
    )
    assert (told.status, told.code, told.param) == (400, "invalid_value", "model")
    assert "no price is known: a" in told.message.lower()
    assert "excluded by the operator: b" in told.message


def test_nothing_left_for_a_picture_names_the_part() -> None:
    table = serving(a_model("a", usd(1, 1), kinds=("text",)))
    told = refusal(table, asking("", messages=IMAGE))
    assert (told.code, told.param) == ("unsupported_content", "messages[0].content[1]")
    assert "takes no images: a" in told.message.lower()


def test_nothing_left_for_a_long_prompt_is_an_overflow() -> None:
    told = refusal(serving(a_model("a", usd(1, 1), context=100)), asking("word " * 500))
    assert told.code == "context_length_exceeded"
    assert "its window is too small for about" in told.message.lower()


def test_a_key_that_may_use_nothing_is_told_so() -> None:
    told = refusal(TABLE, asking(), key=a_key(models=("nothing",)))
    assert (told.status, told.param) == (400, "model")
    assert "small" not in told.message


@pytest.mark.parametrize(
    ("fields", "first"),
    [
        ({"reasoning_effort": "high"}, "sandbox/reasoning"),
        ({}, "sandbox/echo"),
        ({"tools": TOOLS}, "sandbox/tools"),
        ({"response_format": SCHEMA}, "sandbox/json"),
    ],
)
def test_a_gateway_with_nothing_but_the_sandbox_shows_what_was_asked(
    fields: dict[str, Any], first: str
) -> None:
    choice = chosen(serving(*SANDBOX_MODELS), asking(**fields))
    assert ids(choice)[0] == first
    assert choice.record.reason.startswith("Only sandbox models are configured")


def test_named_sandbox_models_keep_their_order() -> None:
    table = serving(*SANDBOX_MODELS)
    found = chosen(table, asking(tools=TOOLS), among=["sandbox/error", "sandbox/echo"])
    assert ids(found) == ["sandbox/error", "sandbox/echo"]


def test_the_record_is_plain_data() -> None:
    import msgspec

    encoded = msgspec.json.encode(chosen(TABLE, asking()).record)
    assert json.loads(encoded)["ranking"][0]["model"] == "small"
    assert AUTO not in json.loads(encoded)["reason"]

import json
from typing import Any

import pytest

from zurelay.catalogue.load import Catalogue, catalogue, load, override, quirks, standard
from zurelay.catalogue.model import FREE, Model, Reasoning
from zurelay.catalogue.price import CatalogueError, per_million
from zurelay.chat.effort import SCALE, clamp
from zurelay.chat.profile import Profile

PRICE = {"input": "1", "output": "2"}


def document(*entries: dict[str, Any]) -> bytes:
    return json.dumps({"models": entries}).encode()


def entry(**changes: Any) -> dict[str, Any]:
    return {"vendor": "lab", "id": "m-1", "name": "M 1", "price": PRICE} | changes


@pytest.fixture(scope="module")
def shipped() -> Catalogue:
    return standard()


def test_an_entry_becomes_a_model() -> None:
    (model,) = load(
        document(
            entry(
                context=1000,
                input=["pdf", "text"],
                reasoning={"levels": ["high", "low"], "default": "low"},
                source="s",
                checked="2026-11-29",
            )
        )
    )
    assert model.upstream == "m-1"
    assert model.input == ("text", "pdf")
    assert model.reasoning == Reasoning(("low", "high"), "low")
    assert model.price is not None
    assert (model.price.source, model.price.checked) == ("s", "2026-11-29")


@pytest.mark.parametrize(
    ("faulty", "told"),
    [
        (b"{", "not a catalogue"),
        (document({"vendor": "lab"}), "missing required field `id`"),
        (document(entry(contxt=5)), "contxt"),
        (document(entry(price={"input": "x", "output": "1"})), "lab/m-1.price.input"),
        (document(entry(input=["smell"])), "'smell' is no kind of input"),
        (document(entry(reasoning={"levels": ["huge"]})), "'huge' is no level"),
        (document(entry(reasoning={"levels": ["low"], "default": "high"})), "none of the levels"),
        (document(entry(reasoning={"level": ["low"]})), 'Did you mean "levels"'),
        (document(entry(reasoning={"levels": [], "budget": [5, 1]})), "thinking tokens"),
        (document(entry(quirks={"stop_limits": 0})), 'Did you mean "stop_limit"'),
        (document(entry(quirks={"stop_limit": "none"})), "lab/m-1.quirks.stop_limit"),
        (document(entry(), entry()), "stands in the file twice"),
        (document(entry(later=[PRICE])), "needs `since`"),
    ],
)
def test_a_faulty_file_is_told_with_the_place(faulty: bytes, told: str) -> None:
    with pytest.raises(CatalogueError, match=told.replace("[", r"\[")):
        load(faulty)


def test_quirks_take_the_types_a_profile_has() -> None:
    made = quirks(
        {
            "refuses": ["n", "n"],
            "effort_words": {"high": "default"},
            "out_of_credit": [[402, "x"]],
            "adds": {"a": 1},
        }
    )
    profile = Profile().but(**made)
    assert profile.refuses == frozenset({"n"})
    assert profile.effort_words == (("high", "default"),)
    assert profile.out_of_credit == frozenset({(402, "x")})


def test_the_first_entry_of_an_id_is_the_one_found_by_id() -> None:
    models = load(document(entry(), entry(vendor="host", upstream="lab/m-1")))
    found = catalogue(models)
    assert found.by_id["m-1"].vendor == "lab"
    host = found.entry("host", "m-1")
    assert host is not None
    assert host.upstream == "lab/m-1"
    assert found.entry("host", "m-2") is None


BASE = Model(id="m", name="M", vendor="lab", upstream="m", context=5)


def test_an_operator_overrides_each_fact_and_nothing_else() -> None:
    made = override(
        BASE,
        {
            "reasoning": {"levels": ["low", "high"], "default": "high"},
            "max_output": 100,
            "input": ["text", "image"],
            "price": {"input": "4.00", "output": "20.00"},
            "routes": ["ignored"],
        },
    )
    assert made.context == 5
    assert made.max_output == 100
    assert made.input == ("text", "image")
    assert made.reasoning == Reasoning(("low", "high"), "high")
    assert made.price is not None
    assert made.price.source == "operator"
    assert per_million(made.price.classes["output"]) == "20.00"


def test_an_operator_can_give_a_model_away() -> None:
    price = override(BASE, {"price": "free"}).price
    assert price is not None
    assert price.classes == FREE.classes


@pytest.mark.parametrize(
    ("table", "path"),
    [
        ({"context": 0}, "models.m.context"),
        ({"context": "5"}, "models.m.context"),
        ({"max_output": True}, "models.m.max_output"),
        ({"input": "text"}, "models.m.input"),
        ({"price": {"input": 1.5, "output": "2"}}, "models.m.price.input"),
        ({"price": "cheap"}, "models.m.price"),
        ({"reasoning": ["low"]}, "models.m.reasoning"),
    ],
)
def test_a_faulty_override_is_told_by_its_path(table: dict[str, object], path: str) -> None:
    with pytest.raises(CatalogueError) as told:
        override(BASE, table, "models.m")
    assert told.value.path == path


# The shipped file.


def test_every_shipped_entry_says_where_it_comes_from_and_when(shipped: Catalogue) -> None:
    for models in shipped.by_vendor.values():
        for model in models:
            assert model.source
            assert model.vendor == "sandbox" or model.checked >= "2026-11-29"


def test_every_shipped_level_is_reachable_and_defaults_are_levels(shipped: Catalogue) -> None:
    for models in shipped.by_vendor.values():
        for model in models:
            if model.reasoning is not None:
                for level in model.reasoning.levels:
                    assert clamp(level, model.reasoning.levels) == level


def test_levels_of_the_same_word_are_not_offered_twice(shipped: Catalogue) -> None:
    """A budget model's words stand for budgets that differ."""
    budget = shipped.by_id["gemini-2.5-flash"].reasoning
    assert budget is not None
    assert "max" not in budget.levels
    assert budget.levels == SCALE[:-1]


@pytest.mark.parametrize(
    ("model_id", "levels", "default"),
    [
        ("claude-opus-5-5", "low medium high xhigh max", "medium"),
        ("claude-opus-4-6", "none low medium high max", "high"),
        ("gpt-5.4", "none low medium high xhigh", "none"),
        ("gpt-6.1-sol", "low medium high xhigh max", "medium"),
        ("deepseek-flash", "none low high max", "high"),
        ("kimi-k3", "low high max", None),
        ("kimi-k2.6", "none high", "high"),
        ("glm-5.2", "none high max", None),
        ("mistral-large-4", "none high", None),
        ("gpt-4o", "", None),
        ("openai/gpt-oss-120b", "low medium high", "medium"),
    ],
)
def test_known_models_have_their_documented_levels(
    shipped: Catalogue, model_id: str, levels: str, default: str | None
) -> None:
    reasoning = shipped.by_id[model_id].reasoning
    assert reasoning == Reasoning(tuple(levels.split()), default)


@pytest.mark.parametrize(
    ("model_id", "amounts"),
    [
        ("claude-opus-5-5", "4.00 0.20 5.00 8.00 20.00"),
        ("claude-haiku-5-5", "0.10 0.01 0.125 0.20 0.50"),
        ("gpt-6.1-sol", "2.00 0.10 2.50 5.00 10.00"),
        ("kimi-k3", "3.00 0.30 3.00 6.00 15.00"),
    ],
)
def test_known_models_have_their_documented_prices(
    shipped: Catalogue, model_id: str, amounts: str
) -> None:
    price = shipped.by_id[model_id].price
    assert price is not None
    classes = ("input", "cached_input", "cache_write", "cache_write_long", "output")
    assert [per_million(price.classes[name]) for name in classes] == amounts.split()  # type: ignore[index]


def test_long_prompts_have_their_price_step(shipped: Catalogue) -> None:
    price = shipped.by_id["gpt-6.1-sol"].price
    assert price is not None
    ((step, over),) = price.above
    assert step == 272_000
    assert over.classes["input"] == 2 * price.classes["input"]
    assert over.classes["output"] * 2 == 3 * price.classes["output"]


def test_hosts_of_the_same_weights_share_the_labs_public_id(shipped: Catalogue) -> None:
    together = shipped.entry("together", "glm-5.3")
    fireworks = shipped.entry("fireworks", "glm-5.3")
    assert together is not None
    assert fireworks is not None
    assert together.upstream == "zai-org/GLM-5.3"
    assert fireworks.upstream == "accounts/fireworks/models/glm-5p3"
    assert shipped.by_id["glm-5.3"].vendor == "zai"


def test_openai_reasoning_models_refuse_sampling_only_while_thinking(shipped: Catalogue) -> None:
    profile = shipped.by_id["gpt-6-sol"].profile(Profile())
    assert "temperature" in profile.refuses_while_thinking
    assert not profile.refuses
    assert profile.stop_limit == 0
    assert profile.chat_lacks == {"thinking", "tools", "max"}
    assert shipped.by_id["gpt-4o"].quirks == {}


def test_models_of_the_responses_endpoint_alone_say_so(shipped: Catalogue) -> None:
    assert shipped.by_id["gpt-5.5-pro"].format == "openai_responses"
    assert shipped.by_id["gpt-5.3-codex"].format == "openai_responses"
    assert shipped.by_id["gpt-6-sol"].format == ""

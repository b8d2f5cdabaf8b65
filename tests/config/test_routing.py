from collections.abc import Mapping, Sequence

from zurelay.catalogue.load import catalogue
from zurelay.catalogue.model import FREE, Model, Price, Reasoning
from zurelay.catalogue.sandbox import SANDBOX_MODELS
from zurelay.config.models import ModelLimits, RouteSetting
from zurelay.config.routing import build_table
from zurelay.config.settings import (
    Billing,
    ModelSettings,
    ProviderSettings,
    Sandbox,
    Settings,
)
from zurelay.meter.limits import Bound
from zurelay.plan.route import RoutingTable, ServedModel, Stops

DEAR = Price(classes={"input": 9, "output": 9})
CHEAP = Price(classes={"input": 1, "output": 1})

KNOWN = catalogue(
    [
        Model("gpt-6", "GPT-6", "openai", "gpt-6-2026", price=DEAR, quirks={"stop_limit": 0}),
        Model("gpt-6-mini", "GPT-6 mini", "openai", "gpt-6-mini", later=(CHEAP,), price=DEAR),
        Model("llama", "Llama", "groq", "meta/llama", price=CHEAP),
        Model("llama", "Llama", "together", "meta-llama/Llama", price=DEAR),
        *SANDBOX_MODELS,
    ]
)

OPENAI = ProviderSettings(kind="openai", api_key="k")
GROQ = ProviderSettings(kind="groq", api_key="k")
TOGETHER = ProviderSettings(kind="together", api_key="k")
VLLM = ProviderSettings(kind="vllm")


def table(
    providers: Mapping[str, ProviderSettings],
    models: Mapping[str, ModelSettings] | None = None,
    lists: Mapping[str, Sequence[str]] | None = None,
    *,
    sandbox: bool = False,
) -> RoutingTable:
    settings = Settings(providers=providers, models=models or {}, sandbox=Sandbox(enabled=sandbox))
    return build_table(settings, KNOWN, lists or {})


def served(found: RoutingTable, model_id: str) -> ServedModel:
    one = found.find(model_id)
    assert one is not None
    return one


def test_a_provider_serves_its_vendors_whole_catalogue() -> None:
    found = table({"o": OPENAI})
    assert list(found.models) == ["gpt-6", "gpt-6-mini"]
    (route,) = served(found, "gpt-6").routes
    assert (route.id, route.number, route.upstream_model) == ("o:gpt-6-2026", 1, "gpt-6-2026")
    assert route.model is None, "the served model is the provider's own entry"


def test_the_sandbox_is_served_when_it_is_on() -> None:
    assert "sandbox/echo" in table({"o": OPENAI}, sandbox=True).models
    assert "sandbox/echo" not in table({"o": OPENAI}).models


def test_several_providers_with_one_public_id_are_its_routes_in_file_order() -> None:
    found = served(table({"t": TOGETHER, "g": GROQ}), "llama")
    assert [(r.number, r.id) for r in found.routes] == [
        (1, "t:meta-llama/Llama"),
        (2, "g:meta/llama"),
    ]
    assert found.model.vendor == "groq", "the catalogue's first entry speaks for the model"
    prices = [(r.model or found.model).price for r in found.routes]
    assert prices == [DEAR, CHEAP]


def test_two_accounts_at_one_vendor_are_two_routes() -> None:
    found = served(table({"a": OPENAI, "b": OPENAI}), "gpt-6")
    assert [route.id for route in found.routes] == ["a:gpt-6-2026", "b:gpt-6-2026"]


def test_a_provider_without_its_catalogue_serves_what_routes_name() -> None:
    quiet = ProviderSettings(kind="openai", api_key="k", catalogue=False)
    found = table({"o": quiet}, {"gpt-6": ModelSettings(routes=(RouteSetting("o"),))})
    assert list(found.models) == ["gpt-6"]
    assert served(found, "gpt-6").routes[0].upstream_model == "gpt-6-2026"


def test_routes_replace_those_of_their_model_alone() -> None:
    routes = (RouteSetting("g", "other", 2.5, 7), RouteSetting("o"))
    found = table({"o": OPENAI, "g": GROQ}, {"gpt-6": ModelSettings(routes=routes)})
    first, second = served(found, "gpt-6").routes
    assert (first.id, first.number, first.weight, first.priority) == ("g:other", 1, 2.5, 7)
    assert second.id == "o:gpt-6-2026"
    assert [r.id for r in served(found, "gpt-6-mini").routes] == ["o:gpt-6-mini"]


def test_a_model_elsewhere_keeps_its_facts_but_not_its_vendors_quirks() -> None:
    found = served(
        table({"g": GROQ}, {"gpt-6": ModelSettings(routes=(RouteSetting("g", "oss"),))}), "gpt-6"
    )
    entry = found.routes[0].model
    assert entry is not None
    assert (entry.price, dict(entry.quirks), entry.upstream) == (DEAR, {}, "oss")


def test_a_server_of_ones_own_has_no_price_until_the_operator_sets_one() -> None:
    route = RouteSetting("v", "oss")
    free = served(table({"v": VLLM}, {"gpt-6": ModelSettings(routes=(route,))}), "gpt-6")
    assert (free.model.price, free.routes[0].model and free.routes[0].model.price) == (None, None)
    own = ModelSettings(routes=(route,), price=CHEAP)
    assert served(table({"v": VLLM}, {"gpt-6": own}), "gpt-6").model.price == CHEAP


def test_a_deployment_of_a_vendors_model_keeps_that_vendors_quirks() -> None:
    azure = ProviderSettings(kind="azure-openai", api_key="k", base_url="https://x.example/v1")
    found = served(
        table({"a": azure}, {"gpt-6": ModelSettings(routes=(RouteSetting("a", "mine"),))}), "gpt-6"
    )
    entry = found.routes[0].model or found.model
    assert (dict(entry.quirks), found.routes[0].upstream_model) == ({"stop_limit": 0}, "mine")


def test_an_entry_whose_format_this_release_does_not_speak_is_not_served() -> None:
    spoken = Model("a", "A", "groq", "a")
    foreign = Model("b", "B", "groq", "b", format="telepathy")
    settings = Settings(providers={"g": GROQ}, sandbox=Sandbox(enabled=False))
    assert list(build_table(settings, catalogue([spoken, foreign]), {}).models) == ["a"]


def test_a_server_of_ones_own_serves_the_list_it_told() -> None:
    found = table({"v": VLLM}, lists={"v": ["qwen", "qwen", "llama"]})
    assert list(found.models) == ["qwen", "llama"]
    assert served(found, "qwen").routes[0].upstream_model == "qwen"
    assert served(found, "qwen").model.price is None
    assert served(found, "llama").model.name == "Llama"


def test_a_server_that_told_nothing_serves_what_routes_name() -> None:
    found = table({"v": VLLM}, {"qwen": ModelSettings(routes=(RouteSetting("v"),))})
    assert [route.id for route in served(found, "qwen").routes] == ["v:qwen"]


def test_a_model_nobody_reaches_is_not_served() -> None:
    assert table({"v": VLLM}, {"qwen": ModelSettings(context=5)}).find("qwen") is None


def test_the_operators_word_goes_over_the_catalogue_on_every_route() -> None:
    own = ModelSettings(
        name="Mine",
        context=5,
        max_output=4,
        input=("text",),
        tools=False,
        reasoning=Reasoning(("low",), "low"),
        price=FREE,
        quirks={"think_tags": True},
    )
    found = served(table({"t": TOGETHER, "g": GROQ}, {"llama": own}), "llama")
    assert found.model.id == "llama"
    for entry in (found.model, *(r.model or found.model for r in found.routes)):
        assert (entry.name, entry.context, entry.max_output) == ("Mine", 5, 4)
        assert (entry.input, entry.tools, entry.price) == (("text",), False, FREE)
        assert entry.quirks["think_tags"] is True


def test_a_price_given_ends_the_catalogues_later_ones() -> None:
    found = served(table({"o": OPENAI}, {"gpt-6-mini": ModelSettings(price=CHEAP)}), "gpt-6-mini")
    assert (found.model.price, found.model.later) == (CHEAP, ())


def test_breakpoints_of_the_gateways_own_are_a_quirk_of_the_model() -> None:
    found = served(table({"o": OPENAI}, {"gpt-6": ModelSettings(auto_cache=True)}), "gpt-6")
    assert dict(found.model.quirks) == {"stop_limit": 0, "auto_cache": True}
    assert "auto_cache" not in served(table({"o": OPENAI}), "gpt-6").model.quirks


def test_an_override_adds_to_the_catalogues_quirks() -> None:
    own = ModelSettings(quirks={"think_tags": True})
    found = served(table({"o": OPENAI}, {"gpt-6": own}), "gpt-6")
    assert dict(found.model.quirks) == {"stop_limit": 0, "think_tags": True}


def test_a_route_written_twice_is_one_route() -> None:
    twice = ModelSettings(routes=(RouteSetting("o"), RouteSetting("o")))
    assert len(served(table({"o": OPENAI}, {"gpt-6": twice}), "gpt-6").routes) == 1


def test_fallbacks_that_nobody_serves_just_now_are_left_out() -> None:
    own = ModelSettings(fallbacks=("qwen", "gpt-6-mini"))
    providers = {"o": OPENAI, "v": VLLM}
    assert served(table(providers, {"gpt-6": own}), "gpt-6").fallbacks == ("gpt-6-mini",)
    found = table(providers, {"gpt-6": own}, {"v": ["qwen"]})
    assert served(found, "gpt-6").fallbacks == ("qwen", "gpt-6-mini")


def test_limits_of_a_model_are_a_bound_over_all_its_callers() -> None:
    limits = ModelLimits(rpm=5, concurrency=2)
    found = table({"o": OPENAI}, {"gpt-6": ModelSettings(limits=limits)})
    assert served(found, "gpt-6").bound == Bound("model:gpt-6", "model", rpm=5, concurrency=2)
    assert served(found, "gpt-6-mini").bound is None


def test_prices_set_at_run_time_beat_the_catalogue_and_the_file_beats_them() -> None:
    over = {"gpt-6": {"": CHEAP}, "gpt-6-mini": {"2027-01-01": CHEAP}, "gone": {"": CHEAP}}
    own = {"gpt-6": ModelSettings(price=FREE)}
    for models, price in (({}, CHEAP), (own, FREE)):
        settings = Settings(providers={"o": OPENAI}, models=models, sandbox=Sandbox(enabled=False))
        found = build_table(settings, KNOWN, {}, over)
        assert served(found, "gpt-6").model.price == price
        mini = served(found, "gpt-6-mini").model
        assert (mini.price, [one.since for one in mini.later]) == (DEAR, ["", "2027-01-01"])
        assert "gone" not in found.models


def test_a_price_set_at_run_time_holds_on_every_route() -> None:
    settings = Settings(providers={"g": GROQ, "t": TOGETHER}, sandbox=Sandbox(enabled=False))
    found = served(build_table(settings, KNOWN, {}, {"llama": {"": FREE}}), "llama")
    entries = [route.model or found.model for route in found.routes]
    assert [entry.price for entry in entries] == [FREE, FREE]


def test_a_models_markup_beats_the_general_one_on_every_route() -> None:
    settings = Settings(
        providers={"o": OPENAI, "g": GROQ, "t": TOGETHER},
        models={"llama": ModelSettings(markup="1.5")},
        billing=Billing(markup="1.2"),
        sandbox=Sandbox(enabled=False),
    )
    found = build_table(settings, KNOWN, {})
    assert served(found, "gpt-6").model.markup == 1_200_000
    llama = served(found, "llama")
    entries = [route.model or llama.model for route in llama.routes]
    assert [entry.markup for entry in (llama.model, *entries)] == [1_500_000] * 3


def test_what_is_stopped_is_held_back_with_its_number_and_the_reason() -> None:
    both = ModelSettings(routes=(RouteSetting("g"), RouteSetting("t")))
    settings = Settings(
        providers={"g": GROQ, "t": TOGETHER},
        models={"llama": both},
        sandbox=Sandbox(enabled=False),
    )
    ids = {"g:meta/llama", "t:meta-llama/Llama"}
    for stops, left, held in (
        (Stops(), [1, 2], []),
        (Stops(routes=frozenset({"g:meta/llama"})), [2], [(1, "route")]),
        (Stops(providers=frozenset({"t"})), [1], [(2, "provider")]),
        (Stops(models=frozenset({"llama"})), [], [(1, "model"), (2, "model")]),
    ):
        found = build_table(settings, KNOWN, {}, stops=stops)
        one = served(found, "llama")
        assert [route.number for route in one.routes] == left
        assert [(route.number, by) for route, by in one.held] == held
        assert found.route_ids == ids

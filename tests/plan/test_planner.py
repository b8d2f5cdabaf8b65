"""Which routes may answer a request, what each is asked, and what is refused before any call."""

from collections.abc import Callable, Mapping

import msgspec
import pytest

from tests.plan.made import model, provider, route, served, table
from zurelay.catalogue.model import Reasoning
from zurelay.chat.estimate import prompt_tokens
from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.problems import Problem, Refused
from zurelay.chat.profile import Profile
from zurelay.formats.base import Ability, Inbound
from zurelay.plan.affinity import Affinity, conversation
from zurelay.plan.health import Health
from zurelay.plan.planner import Plan, make_plan
from zurelay.plan.route import Route, RoutingTable

ABC = table(served("a"), served("b"), served("c"))


def inbound(
    asked: str = "a",
    *,
    models: tuple[str, ...] | None = None,
    effort: str | None = None,
    needs: Mapping[Ability, str] | None = None,
    tokens: int = 0,
    opening: bytes = b"",
    front: str = "openai_chat",
) -> Inbound:
    body = {} if models is None else {"models": msgspec.Raw(msgspec.json.encode(models))}
    return Inbound(
        front,
        body,
        asked,
        alternatives=None if models is None else tuple(dict.fromkeys(models)),
        effort=effort,
        needs=needs or {},
        text_length=max(0, tokens - prompt_tokens(0)) * 4,
        opening=opening,
    )


def plan(
    of: RoutingTable,
    request: Inbound,
    *,
    may_use: Callable[[str], bool] = lambda _: True,
    health: Health | None = None,
    affinity: Affinity | None = None,
    now: float = 0.0,
    draw: Callable[[], float] = lambda: 0.5,
    hedge: bool = False,
) -> Plan:
    return make_plan(
        of,
        request,
        may_use=may_use,
        health=health or Health(),
        affinity=affinity or Affinity(),
        account="acct",
        now=now,
        draw=draw,
        hedge=hedge,
    )


def models_of(made: Plan) -> list[str]:
    return [c.public_model for c in made.candidates]


def routes_of(made: Plan) -> list[str]:
    return [c.route.id for c in made.candidates]


def refusal(of: RoutingTable, request: Inbound, **more: Callable[[str], bool]) -> Problem:
    with pytest.raises(Refused) as refused:
        plan(of, request, **more)  # type: ignore[arg-type]
    return refused.value.problem


# Which models.


def test_the_routes_of_the_model_come_first_then_alternatives_then_fallbacks() -> None:
    both = [route("p", "a"), route("q", "a")]
    of = table(served("a", both, fallbacks=("c",)), served("b"), served("c"), served("d"))
    made = plan(of, inbound("a", models=("d", "b", "d", "a")))
    assert models_of(made) == ["a", "a", "d", "b", "c"]
    assert [c.listed for c in made.candidates] == [False, False, True, True, False]
    assert [c.only for c in made.candidates] == [False, False, True, True, True]
    assert made.asked == "a"
    assert len(set(models_of(made))) > 1


def test_no_alternatives_means_no_fallbacks_either() -> None:
    of = table(served("a", fallbacks=("b",)), served("b"))
    assert models_of(plan(of, inbound("a", models=()))) == ["a"]
    assert models_of(plan(of, inbound("a"))) == ["a", "b"]
    assert models_of(plan(of, inbound("a", models=("a",)))) == ["a", "b"]


def test_one_model_is_the_only_possible_one_whatever_its_routes() -> None:
    of = table(served("a", [route("p", "x"), route("q", "x")]))
    assert set(models_of(plan(of, inbound()))) == {"a"}


def test_a_conversation_has_a_name_only_where_there_is_a_choice_of_routes() -> None:
    asked = inbound(opening=b"hello")
    assert plan(table(served("a")), asked).conversation is None
    two = plan(table(served("a", [route("p", "x"), route("q", "x")])), asked)
    assert two.conversation == conversation("acct", asked)
    assert plan(table(served("a", fallbacks=("b",)), served("b")), asked).conversation is not None


def test_fallbacks_that_the_key_may_not_use_or_nobody_serves_are_skipped() -> None:
    of = table(served("a", fallbacks=("b", "gone", "c")), served("b"), served("c"))
    made = plan(of, inbound(), may_use=lambda name: name != "b")
    assert models_of(made) == ["a", "c"]


def test_a_fallback_that_was_listed_too_counts_as_listed() -> None:
    of = table(served("a", fallbacks=("b",)), served("b"))
    made = plan(of, inbound(models=("b",)))
    assert [(c.public_model, c.listed) for c in made.candidates] == [("a", False), ("b", True)]


def test_an_unknown_model_is_404_with_the_nearest_the_key_may_use() -> None:
    of = table(served("gpt-six"), served("gpt-sex"), served("claude"))
    problem = refusal(of, inbound("gpt-sexy"), may_use=lambda name: name != "gpt-sex")
    assert (problem.status, problem.code, problem.param) == (404, "model_not_found", "model")
    assert "'gpt-sexy'" in problem.message
    assert "'gpt-six'" in problem.message
    assert "GET /v1/models" in refusal(of, inbound("llama")).message


def test_a_model_that_the_key_may_not_use_is_403() -> None:
    problem = refusal(ABC, inbound("a"), may_use=lambda name: name != "a")
    assert (problem.status, problem.code, problem.param) == (403, "model_not_allowed", "model")


def test_an_unknown_alternative_is_named_where_the_caller_wrote_it() -> None:
    problem = refusal(ABC, inbound(models=("b", "b", "b2", "c")))
    assert (problem.status, problem.code, problem.param) == (400, "invalid_value", "models[2]")
    assert "'b2'" in problem.message
    assert "'b'" in problem.message
    assert "GET /v1/models" in refusal(ABC, inbound(models=("nothing like it",))).message


def test_an_alternative_is_named_by_its_place_even_if_the_body_is_not_at_hand() -> None:
    request = Inbound("openai_chat", {}, "a", alternatives=("b", "x"))
    assert refusal(ABC, request).param == "models[1]"


def test_an_alternative_that_the_key_may_not_use_is_403_there() -> None:
    problem = refusal(ABC, inbound(models=("c", "b")), may_use=lambda name: name != "b")
    assert (problem.status, problem.code, problem.param) == (403, "model_not_allowed", "models[1]")


def test_parameters_of_sandbox_ids_go_upstream_and_are_no_part_of_the_public_id() -> None:
    sandbox = model("sandbox/slow", vendor="sandbox")
    of = table(served(sandbox, [route("s", "sandbox/slow")]), served("a"))
    made = plan(
        of,
        inbound("sandbox/slow?first=3", models=("sandbox/slow?first=4", "a")),
        may_use=lambda name: "?" not in name,
    )
    assert [(c.public_model, c.upstream_model) for c in made.candidates] == [
        ("sandbox/slow", "sandbox/slow?first=3"),
        ("sandbox/slow", "sandbox/slow?first=4"),
        ("a", "a"),
    ]
    assert made.asked == "sandbox/slow"
    assert refusal(of, inbound("a?first=3")).status == 404


# Effort.


def levels(*words: str, default: str | None = None) -> Reasoning:
    return Reasoning(words, default)


@pytest.mark.parametrize(
    ("reasoning", "asked", "sent", "shown", "high"),
    [
        (levels("low", "medium", "high"), "max", "high", "high", True),
        (levels("low", "medium", "high"), "minimal", "low", "low", False),
        (levels("low", "xhigh"), "xhigh", "xhigh", "xhigh", True),
        (levels("none", "high"), "none", "none", "none", False),
        (levels("low", "high", default="high"), None, None, "high", True),
        (levels("low", "high", default="low"), None, None, "low", False),
        (levels("low", "high"), None, None, None, False),
        (levels(), "high", None, "none", False),
        (levels(), None, None, "none", False),
        (None, "high", "high", "high", True),
        (None, None, None, None, False),
    ],
)
def test_the_effort_is_clamped_to_what_the_model_has(
    reasoning: Reasoning | None, asked: str | None, sent: str | None, shown: str | None, high: bool
) -> None:
    of = table(served(model("a", reasoning=reasoning)))
    (candidate,) = plan(of, inbound(effort=asked)).candidates
    assert (candidate.effort, candidate.effort_shown) == (sent, shown)
    assert candidate.high_effort is high


def test_the_effort_is_clamped_anew_for_each_candidate() -> None:
    here = model("a", reasoning=levels("low"))
    of = table(
        served(model("a"), [route("p"), route("q", model=here)]),
        served(model("b", reasoning=levels("max"))),
    )
    made = plan(of, inbound(models=("b",), effort="high"))
    assert [c.effort for c in made.candidates] == ["high", "low", "max"]


def test_a_word_that_is_no_level_is_refused_with_the_models_levels() -> None:
    problem = refusal(table(served("a")), inbound(effort="extreme"))
    assert (problem.status, problem.code) == (400, "invalid_value")
    assert problem.param == "reasoning_effort"
    assert problem.message.endswith("low, medium, high.")
    bare = table(served(model("a", reasoning=None)))
    assert "xhigh" in refusal(bare, inbound(effort="extreme")).message
    for front, param in (
        ("openai_responses", "reasoning.effort"),
        ("anthropic", "output_config.effort"),
    ):
        assert refusal(ABC, inbound(effort="extreme", front=front)).param == param


# Abilities and windows.

TEXT = ("text",)


def test_a_model_that_would_lose_a_part_is_left_out_and_an_unknown_one_is_not() -> None:
    of = table(
        served(model("a", kinds=TEXT)),
        served(model("b", kinds=("text", "image"))),
        served(model("c")),
    )
    made = plan(of, inbound(models=("b", "c"), needs={Ability.IMAGE: "messages[0].content[1]"}))
    assert models_of(made) == ["b", "c"]


@pytest.mark.parametrize(
    ("ability", "named"),
    [
        (Ability.IMAGE, "images"),
        (Ability.PDF, "PDF files"),
        (Ability.AUDIO, "audio"),
        (Ability.VIDEO, "video"),
    ],
)
def test_if_no_route_takes_a_part_it_is_named(ability: Ability, named: str) -> None:
    of = table(served(model("a", kinds=TEXT)))
    problem = refusal(of, inbound(needs={ability: "messages[3].content[0]"}))
    assert (problem.status, problem.code) == (400, "unsupported_content")
    assert problem.param == "messages[3].content[0]"
    assert named in problem.message


def test_tools_leave_out_only_models_known_to_take_none() -> None:
    needs = {Ability.TOOLS: "tools"}
    of = table(served(model("a", tools=False)), served(model("b", tools=True)), served(model("c")))
    assert models_of(plan(of, inbound(models=("b", "c"), needs=needs))) == ["b", "c"]
    problem = refusal(of, inbound(needs=needs))
    assert (problem.param, problem.code) == ("tools", "unsupported_content")
    assert "tools" in problem.message


def test_the_part_named_is_the_one_that_no_route_takes() -> None:
    of = table(
        served(model("a", kinds=("text", "image"), tools=False)), served(model("b", kinds=TEXT))
    )
    needs = {Ability.IMAGE: "i", Ability.TOOLS: "t", Ability.VIDEO: "v"}
    assert refusal(of, inbound(models=("b",), needs=needs)).param == "v"
    both = {Ability.IMAGE: "i", Ability.TOOLS: "t"}
    assert refusal(of, inbound(models=("b",), needs=both)).param == "t"


def test_what_a_provider_has_of_a_model_counts_before_what_its_lab_says() -> None:
    poor = model("a", kinds=TEXT, tools=False)
    rich = model("a", kinds=("text", "image"), tools=True)
    unknown = model("a")
    of = table(served(rich, [route("p", model=poor), route("q"), route("r", model=unknown)]))
    for ability in (Ability.IMAGE, Ability.TOOLS):
        assert routes_of(plan(of, inbound(needs={ability: "x"}))) == ["q:u", "r:u"]
    of = table(served(poor, [route("q"), route("r", model=unknown), route("s", model=rich)]))
    for ability in (Ability.IMAGE, Ability.TOOLS):
        assert routes_of(plan(of, inbound(needs={ability: "x"}))) == ["s:u"]


def test_a_host_without_file_parts_takes_no_pdf() -> None:
    bare = provider("p", profile=Profile(file_parts=False))
    of = table(served("a", [route(bare), route("q")]))
    assert routes_of(plan(of, inbound(needs={Ability.PDF: "x"}))) == ["q:u"]
    assert routes_of(plan(of, inbound(needs={Ability.IMAGE: "x"}))) == ["p:u", "q:u"]


def test_structured_output_and_forced_tools_leave_nothing_out() -> None:
    bare = provider("p", profile=Profile(forced_tools="never", json_schema="none"))
    of = table(served(model("a", tools=True), [route(bare)]))
    needs = {Ability.FORCED_TOOL: "tool_choice", Ability.JSON_SCHEMA: "response_format"}
    assert routes_of(plan(of, inbound(needs=needs))) == ["p:u"]


def test_a_window_leaves_a_model_out_only_when_the_estimate_exceeds_it_by_a_fifth() -> None:
    of = table(served(model("a", context=1000)), served(model("b", context=5000)), served("c"))
    assert models_of(plan(of, inbound(models=("b", "c"), tokens=1200))) == ["a", "b", "c"]
    assert models_of(plan(of, inbound(models=("b", "c"), tokens=1201))) == ["b", "c"]
    assert models_of(plan(of, inbound(models=("b", "c"), tokens=99_999))) == ["c"]


def test_if_no_window_is_large_enough_the_largest_is_asked() -> None:
    small = model("a", context=500)
    of = table(
        served(model("a", context=1000), [route("p"), route("q", model=small)]),
        served(model("b", context=2000)),
    )
    made = plan(of, inbound(models=("b",), tokens=9000))
    assert models_of(made) == ["b"]
    assert routes_of(plan(of, inbound(tokens=9000))) == ["p:u"]


def test_the_estimate_counts_text_and_other_parts() -> None:
    assert plan(ABC, inbound(tokens=100)).input_estimate == 100


# Everything cut off, and hedging.

DOWN = Fault(FaultKind.SERVER_ERROR)


def cut_off(*routes: Route) -> Health:
    health = Health()
    for each in routes:
        for _ in range(10):
            health.began(each, 0.0)
            health.failed(each, DOWN, 0.0, "x")
    return health


def test_with_every_route_cut_off_the_least_bad_comes_first_and_is_forced() -> None:
    p, q = route("p"), route("q")
    health = cut_off(p, q)
    health.began(q, 1.0)
    health.succeeded(q, 1.0)
    made = plan(table(served("a", [p, q])), inbound(), health=health, now=2.0)
    assert routes_of(made) == ["q:u", "p:u"]
    assert [c.forced for c in made.candidates] == [True, False]


def test_while_one_route_may_be_tried_none_is_forced() -> None:
    p, q = route("p"), route("q")
    made = plan(table(served("a", [p, q])), inbound(), health=cut_off(p), now=1.0)
    assert routes_of(made) == ["q:u", "p:u"]
    assert not any(c.forced for c in made.candidates)
    only = plan(table(served("a", [p])), inbound(), health=cut_off(p), now=1.0)
    assert [(c.only, c.forced) for c in only.candidates] == [(True, False)]


def test_when_all_rest_nothing_is_forced() -> None:
    p = route("p")
    health = Health()
    health.failed(p, Fault(FaultKind.RATE_LIMITED, retry_after=9.0), 0.0)
    made = plan(table(served("a", [p])), inbound(), health=health, now=1.0)
    assert [c.forced for c in made.candidates] == [False]


def timed(*routes: Route) -> Health:
    health = Health()
    for each in routes:
        for _ in range(50):
            health.began(each, 0.0)
            health.succeeded(each, 0.0, 2.0, "x", 8)
    return health


def hedges(made: Plan) -> list[float | None]:
    return [c.hedge_after for c in made.candidates]


def test_a_hedge_starts_after_the_usual_worst_of_the_first_route() -> None:
    p, q = route("p"), route("q")
    of = table(served("a", [p, q]))
    assert hedges(plan(of, inbound(), health=timed(p, q), hedge=True)) == [2.0, None]
    assert hedges(plan(of, inbound(), health=timed(p, q))) == [None, None]
    assert hedges(plan(of, inbound(), hedge=True)) == [None, None]


def test_no_hedge_with_a_warm_cache_or_without_a_healthy_second_route_of_the_model() -> None:
    p, q = route("p"), route("q")
    of = table(served("a", [p, q]), served("b"))
    affinity = Affinity()
    request = inbound(opening=b"hello")
    name = conversation("acct", request)
    assert name is not None
    affinity.remember(name, "p:u", 0.0)
    assert hedges(plan(of, request, health=timed(p, q), affinity=affinity, hedge=True)) == [
        None,
        None,
    ]
    resting = timed(p, q)
    resting.failed(q, Fault(FaultKind.RATE_LIMITED, retry_after=99.0), 0.0)
    assert hedges(plan(of, inbound(), health=resting, hedge=True)) == [None, None]
    alone = table(served("a", [p]), served("b"))
    assert hedges(plan(alone, inbound(models=("b",)), health=timed(p), hedge=True)) == [None, None]


def test_no_hedge_while_more_than_one_route_is_cut_off() -> None:
    routes = [route(name) for name in "pqrs"]
    of = table(served("a", routes))
    for broken, expected in ((routes[2:3], 2.0), (routes[2:], None)):
        health = timed(*routes[:2])
        for each in broken:
            for _ in range(10):
                health.failed(each, DOWN, 0.0, "x")
        made = plan(of, inbound(), health=health, now=1.0, hedge=True)
        assert made.candidates[0].hedge_after == expected


def test_no_hedge_for_a_large_prompt_or_beside_a_probe() -> None:
    p, q = route("p"), route("q")
    of = table(served("a", [p, q]))
    health = timed(p, q)
    for each in (p, q):
        for _ in range(50):
            health.succeeded(each, 0.0, 2.0, "x", 50_000)
    assert hedges(plan(of, inbound(tokens=50_000), health=health, hedge=True))[0] is None
    for _ in range(100):
        health.failed(q, DOWN, 61.0, "x")
    assert hedges(plan(of, inbound(), health=health, now=77.0, hedge=True))[0] is None


def test_what_is_remembered_of_a_model_with_one_route_never_replaces_a_check() -> None:
    only = table(served(model("a")))
    first = plan(only, inbound(effort="high"))
    assert plan(only, inbound(effort="high")).candidates == first.candidates
    assert plan(only, inbound(effort="low")).candidates[0].effort == "low"
    with pytest.raises(Refused):
        plan(only, inbound(effort="high"), may_use=lambda _: False)


def test_a_fallback_that_one_key_may_not_use_is_still_there_for_another() -> None:
    of = table(served("a", fallbacks=("b",)), served("b"))
    assert models_of(plan(of, inbound(), may_use=lambda name: name == "a")) == ["a"]
    assert models_of(plan(of, inbound())) == ["a", "b"]

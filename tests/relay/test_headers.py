"""What answers say in their headers, and late in a comment."""

from dataclasses import replace

import pytest

from tests.plan import made
from zurelay.chat import problems
from zurelay.chat.profile import Profile
from zurelay.plan.planner import Candidate, Plan
from zurelay.relay import headers


def candidate(model: str = "m", effort: str | None = None) -> Candidate:
    known = made.model(model)
    return Candidate(made.route(), made.served(known), known, model, "u", effort_shown=effort)


def plan(*candidates: Candidate, asked: str = "m") -> Plan:
    return Plan(asked, candidates, 1)


def test_facts_say_who_answered_and_how() -> None:
    one = candidate("other", "high")
    assert headers.facts(plan(one), one, ("seed", "user"), "wire") == [
        (b"x-wire-model", b"other"),
        (b"x-wire-routed-from", b"m"),
        (b"x-wire-reasoning-effort", b"high"),
        (b"x-wire-dropped-params", b"seed,user"),
    ]
    plain = candidate()
    assert headers.facts(plan(plain), plain, (), "wire") == [(b"x-wire-model", b"m")]


def test_each_answer_has_a_list_of_its_own() -> None:
    one = candidate()
    headers.facts(plan(one), one, (), "w").append((b"x", b"y"))
    assert headers.facts(plan(one), one, (), "w") == [(b"x-w-model", b"m")]


def test_the_level_really_in_force_is_told_over_the_planned_one() -> None:
    one = candidate("m", "high")
    assert headers.facts(plan(one), one, (), "w", "none")[-1] == (b"x-w-reasoning-effort", b"none")


@pytest.mark.parametrize("form", ["claude_budget", "cohere_thinking"])
def test_an_early_head_is_silent_on_a_level_that_may_turn_out_to_have_no_room(form: str) -> None:
    by_budget = made.provider(profile=Profile(effort_form=form))  # type: ignore[arg-type]
    known = made.model("m")
    one = Candidate(made.route(by_budget), made.served(known), known, "m", "u", effort_shown="high")
    assert headers.early_facts(plan(one), "w") == [(b"x-w-model", b"m")]


def test_at_most_twenty_dropped_names_are_told() -> None:
    assert headers.dropped_value([f"f{n}" for n in range(20)]).count(",") == 19
    assert headers.dropped_value([f"f{n}" for n in range(23)]).endswith("f19,+3")


@pytest.mark.parametrize(
    ("candidates", "told"),
    [
        ([("m", None), ("m", None)], [b"x-w-model"]),
        ([("m", "low"), ("m", "low")], [b"x-w-model", b"x-w-reasoning-effort"]),
        ([("m", "low"), ("m", "high")], [b"x-w-model"]),
        ([("m", None), ("other", None)], []),
        ([("other", None)], [b"x-w-model", b"x-w-routed-from"]),
    ],
)
def test_an_early_head_says_only_what_cannot_change(
    candidates: list[tuple[str, str | None]], told: list[bytes]
) -> None:
    found = headers.early_facts(plan(*(candidate(*c) for c in candidates)), "w")
    assert [name for name, _ in found] == told


def test_a_late_comment_says_what_the_head_did_not() -> None:
    said, more = (b"x-a", b"1"), (b"x-b", b"2")
    assert headers.late_comment([said, more], [said]) == b": x-b=2\n\n"
    assert headers.late_comment([said, more], []) == b": x-a=1 x-b=2\n\n"
    assert headers.late_comment([said], [said]) == b""
    assert headers.late_comment([(b"x-a", b"2")], [said]) == b": x-a=2\n\n"


def test_a_wait_is_told_instead_of_not_to_try_again() -> None:
    assert headers.of_problem(problems.rate_limited("x", 2.2)) == [(b"retry-after", b"3")]
    assert headers.of_problem(problems.of_attempts([])) == [(b"x-should-retry", b"false")]
    assert headers.of_problem(problems.method_not_allowed("PUT", "GET")) == [(b"allow", b"GET")]
    assert headers.of_problem(problems.internal()) == []
    own = (b"x-own", b"1")
    assert headers.of_problem(replace(problems.internal(), headers=(own,))) == [own]


def test_times_are_told_in_milliseconds() -> None:
    assert headers.server_timing(1.26, 20)[1] == b"gateway;dur=1.3, upstream;dur=20.0"

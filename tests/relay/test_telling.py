"""What callers are told of failures: our names, no secrets, providers only where they may be."""

import pytest

from tests.relay.running import Scene
from zurelay.chat.faults import Fault, FaultKind
from zurelay.chat.problems import invalid_value
from zurelay.relay import telling


async def test_every_routes_own_name_becomes_the_public_one() -> None:
    job = Scene(stream=False).job
    said = telling.words(job, "upstream-2 is not upstream-1, SECRET")
    assert said == "m is not m, [redacted]"
    assert telling.words(job, "") == ""


async def test_what_is_kept_of_a_providers_words_holds_nothing_of_the_prompt() -> None:
    turns = [
        {"role": "user", "content": [{"type": "text", "text": "Grandma\u2019s secret recipe"}]},
        {"role": "user", "content": "data:image/png;base64,AAAA"},
    ]
    job = Scene(stream=False, fields={"messages": turns}).job
    assert telling.kept(job, "no 'Grandma\u2019s secret recipe' here") == "no '[...]' here"
    assert telling.kept(job, "base64 is no picture") == "base64 is no picture"
    assert telling.kept(job, "") == ""
    big = Scene(stream=False, fields={"messages": turns, "x": "y" * (5 * 1024 * 1024)}).job
    assert telling.kept(big, "no recipe here") == "[...]"


async def test_the_requests_own_fault_keeps_all_but_its_words() -> None:
    job = Scene(stream=False).job
    fault = Fault(FaultKind.REJECTED, "upstream-1 says no", "p", "c", "t", 422, 3.0)
    told = telling.own_fault(job, fault)
    assert told == Fault(FaultKind.REJECTED, "m says no", "p", "c", "t", 422, 3.0)


@pytest.mark.parametrize("exposed", [True, False])
async def test_a_failure_names_its_provider_where_it_may(exposed: bool) -> None:
    job = Scene(stream=False, exposed=exposed).job
    fault = Fault(FaultKind.OVERLOADED)
    told = str(telling.failed(job, job.plan.candidates[1], fault, "busy"))
    if exposed:
        assert told == "route 2 (m at p2): overloaded, said: busy"
    else:
        assert told == "route 2 (m): overloaded"


def test_what_cannot_be_written_is_the_requests_own_fault() -> None:
    fault = telling.unwritable(invalid_value("n", "too many"))
    assert (fault.kind, fault.param, fault.status, fault.code) == (
        FaultKind.REJECTED,
        "n",
        400,
        "invalid_value",
    )
    assert not fault.moves_on

"""What an attempt is asked, from the job and the candidate."""

from tests.relay.running import Scene
from zurelay.catalogue.price import parse_price
from zurelay.formats.base import Outbound
from zurelay.relay import preparation


async def test_the_target_is_the_candidates_model_in_its_providers_words() -> None:
    job = Scene(stream=False).job
    job.cache_key = "ours"
    target = preparation.target(job, job.plan.candidates[1], streams=True)
    assert (target.public_model, target.upstream_model) == ("m", "upstream-2")
    assert target.stream
    assert target.cache_key == "ours"


async def test_a_tier_passes_where_the_model_has_a_price_for_it() -> None:
    price = parse_price({"input": "1", "output": "5", "tiers": {"flex": "0.5"}})
    for facts, allows in (({"price": price}, {"service_tier"}), ({}, set())):
        job = Scene(stream=False, fields={"service_tier": "flex"}, facts=facts).job
        target = preparation.target(job, job.plan.candidates[0], streams=False)
        assert target.allows == allows


async def test_the_answer_is_told_what_to_say_of_itself() -> None:
    fields = {"stream_options": {"include_usage": True}, "n": 2, "stop": "x"}
    job = Scene(stream=True, fields=fields).job
    target = preparation.target(job, job.plan.candidates[0], streams=True)
    context = preparation.context(job, target, Outbound("/p", b"", stop=("y",)))
    assert (context.answer_id, context.model, context.created) == ("chatcmpl-1", "m", 1_700_000_000)
    assert (context.include_usage, context.choices) == (True, 2)
    assert context.stop == ("y",)
    assert context.may_be_empty


async def test_chat_is_asked_in_chat_where_nothing_speaks_against_it() -> None:
    job = Scene(stream=False).job
    assert preparation.back(job, job.plan.candidates[0]) == "openai_chat"


async def test_what_a_route_turned_out_to_lack_is_not_asked_again() -> None:
    job = Scene(stream=False).job
    candidate = job.plan.candidates[0]
    assert preparation.target(job, candidate, streams=False).profile.thinking_summary
    lacking = preparation.target(job, candidate, streams=False, lacking={"thinking_summary"})
    assert not lacking.profile.thinking_summary

"""Plain counts become the families of a scrape."""

from zurelay.chat.usage import Usage
from zurelay.telemetry.series import Series, Times, families


def test_times_fall_into_the_first_bucket_that_holds_them() -> None:
    times = Times()
    for seconds in (0.01, 0.011, 600, 601):
        times.add(seconds)
    assert (times.buckets[0], times.buckets[1], times.buckets[-2], times.buckets[-1]) == (
        1,
        1,
        1,
        1,
    )
    assert times.total == 1201.021


def test_series_of_one_model_on_two_endpoints_are_one_where_the_endpoint_does_not_count() -> None:
    chat, messages = Series(), Series()
    chat.count("ok", 200, Usage(10, cached_input=5, output=3, reasoning=2), 7, 0.5, 2.0)
    messages.count("error", 502, None, 0, None, 1.0)
    messages.count("ok", 200, Usage(1, output=1), 3, 0.5, 2.0)
    found = {f.name: f for f in families({("/a", "m"): chat, ("/b", "m"): messages}, {})}
    tokens = {s.labels["class"]: s.value for s in found["zurelay_tokens"].samples}
    assert tokens == {"input": 11, "output": 4, "cached_input": 5}
    assert [s.value for s in found["zurelay_reasoning_tokens"].samples] == [2]
    assert [s.value for s in found["zurelay_cost_usd"].samples] == [10 / 10**9]
    took = {s.labels.get("le"): s.value for s in found["zurelay_request_seconds"].samples}
    assert (took["0.5"], took["1.0"], took["2.0"], took["+Inf"]) == (0, 1, 3, 3)
    assert len(found["zurelay_requests"].samples) == 3


def test_parameters_of_sandbox_routes_make_no_series() -> None:
    tries = {("s:slow?first=1", "ok"): 1, ("s:slow?first=2", "ok"): 2, ("s:slow", "empty"): 1}
    (family,) = [f for f in families({}, tries) if f.name == "zurelay_attempts"]
    counts = {(s.labels["route"], s.labels["outcome"]): s.value for s in family.samples}
    assert counts == {("s:slow", "ok"): 3, ("s:slow", "empty"): 1}

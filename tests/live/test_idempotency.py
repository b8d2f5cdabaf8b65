"""Keys are one account's and one request's; answers are encrypted, bounded and gone in an hour."""

import gc
import os

import pytest

from tests.relay.callers import Caller, Timers
from zurelay.chat.problems import Refused
from zurelay.live.idempotency import ENTRY_BYTES, KEPT_SECONDS, Idempotency, Use
from zurelay.relay.replay import DETACHED_SECONDS, Recording

KB = 1024


def made(most_held: int = 1 << 40, most_each: int = 1 << 40) -> tuple[Idempotency, Timers]:
    timers = Timers()
    return Idempotency(timers.later, most_held=most_held, most_each=most_each), timers


def begun(store: Idempotency, use: Use, request: str = "req_1") -> tuple[Recording, Caller]:
    recording = store.begin(use, request)
    recording.listen(lambda: None, lambda _: None)
    caller = Caller()
    recording.attach(caller)
    return recording, caller


def answered(store: Idempotency, key: str, body: bytes = b"answer") -> Use:
    use = store.use("acct", key, [b"body"])
    recording, _ = begun(store, use, f"req_{key}")
    recording.answer(200, [], body)
    store.settle(use, recording, keep=True)
    return use


def problem(store: Idempotency, use: Use) -> tuple[int, str | None, bool | None]:
    with pytest.raises(Refused) as caught:
        store.find(use)
    told = caught.value.problem
    return told.status, told.code, told.should_retry


def test_a_finished_answer_is_found_again_with_the_id_of_its_request() -> None:
    store, _ = made()
    use = answered(store, "k")
    for _ in range(2):
        earlier = store.find(store.use("acct", "k", [b"body"]))
        assert earlier is not None
        assert (earlier.request, earlier.running) == ("req_k", False)
        caller = Caller()
        earlier.attach(caller)
        assert (caller.status, caller.body) == (200, b"answer")
    assert use == store.use("acct", "k", [b"body"])


def test_a_running_answer_is_joined() -> None:
    store, _ = made()
    use = store.use("acct", "k", [b"body"])
    assert store.find(use) is None
    recording, _ = begun(store, use)
    earlier = store.find(use)
    assert earlier is not None
    assert (earlier.request, earlier.running) == ("req_1", True)
    second = Caller()
    earlier.attach(second)
    recording.answer(200, [], b"x")
    assert second.body == b"x"


def test_a_key_is_one_accounts_own() -> None:
    store, _ = made()
    answered(store, "k")
    assert store.find(store.use("other", "k", [b"body"])) is None
    assert store.find(store.use("acct", "k2", [b"body"])) is None
    # the seam between account and key cannot be shifted
    assert store.use("a", "bc", []).name != store.use("ab", "c", []).name


def test_the_same_key_with_another_body_is_refused_running_or_finished() -> None:
    store, _ = made()
    use, other = store.use("acct", "k", [b"body"]), store.use("acct", "k", [b"bod", b"y"])
    recording, _ = begun(store, use)
    assert problem(store, other) == (422, "idempotency_key_reused", False)
    recording.answer(200, [], b"x")
    store.settle(use, recording, keep=True)
    assert problem(store, other) == (422, "idempotency_key_reused", False)


def test_an_error_frees_the_key() -> None:
    store, _ = made()
    use = store.use("acct", "k", [b"body"])
    recording, caller = begun(store, use)
    recording.answer(500, [], b"error")
    store.settle(use, recording, keep=False)
    assert caller.status == 500
    assert store.find(use) is None
    assert store.find(store.use("acct", "k", [b"another"])) is None
    assert store.held == 0


def test_an_answer_is_gone_after_an_hour() -> None:
    store, timers = made()
    use = answered(store, "k")
    timers.advance(KEPT_SECONDS - 1)
    assert store.find(use) is not None
    timers.advance(1)
    assert store.find(use) is None
    assert store.held == 0


def test_a_kept_answer_lies_encrypted_in_memory_and_its_key_nowhere() -> None:
    store, _ = made()
    text = b"a very private answer " + os.urandom(8).hex().encode()
    use = answered(store, "caller's own key", text)
    [kept] = store._finished.values()
    assert all(text[:20] not in block for block in kept.answer.blocks)
    found = Caller()
    earlier = store.find(use)
    assert earlier is not None
    earlier.attach(found)
    assert found.body == text
    secret = use.secret
    del use, found, earlier
    gc.collect()
    reachable = gc.get_referents(kept, store, vars(store), kept.answer)
    assert secret not in reachable
    assert secret not in vars(store).values()
    assert "secret" not in repr(store.use("acct", "k", [])).split("fingerprint")[1]


def test_equal_answers_look_different() -> None:
    store, _ = made()
    answered(store, "k1", b"same")
    answered(store, "k2", b"same")
    one, two = (entry.answer.blocks[0] for entry in store._finished.values())
    assert one != two


def test_when_memory_is_short_the_oldest_answer_goes_first() -> None:
    store, timers = made(most_held=10 * (ENTRY_BYTES + 40))
    uses = [answered(store, f"k{n}", b"x") for n in range(50)]
    found = [store.find(use) is not None for use in uses]
    assert store.held <= 10 * (ENTRY_BYTES + 40)
    assert found[-9:] == [True] * 9
    assert not any(found[:40])
    # the timers of those that went are gone with them
    assert timers.waiting == sum(found)
    timers.advance(KEPT_SECONDS)
    assert store.held == 0


def test_a_running_answer_makes_room_for_itself_and_then_goes_off_the_record() -> None:
    store, _ = made(most_held=200 * KB)
    old = answered(store, "old", os.urandom(100 * KB))
    use = store.use("acct", "new", [b"body"])
    recording, caller = begun(store, use)
    recording.open(200, [])
    text = os.urandom(300 * KB)
    for at in range(0, len(text), 10 * KB):
        recording.write(text[at : at + 10 * KB])
        assert store.held <= 210 * KB
    assert store.find(old) is None
    assert problem(store, use) == (409, "idempotency_key_in_use", False)
    recording.close()
    store.settle(use, recording, keep=True)
    assert caller.body == text
    assert store.find(use) is None
    assert store.held == 0


def test_a_large_answer_is_not_kept() -> None:
    store, _ = made(most_each=50 * KB)
    use = answered(store, "k", os.urandom(60 * KB))
    assert store.find(use) is None
    assert store.held == 0


def test_streamed_events_take_little_memory() -> None:
    store, _ = made()
    use = store.use("acct", "k", [b"body"])
    recording, _ = begun(store, use)
    recording.open(200, [])
    for n in range(20_000):
        recording.write(b'data: {"id":"chatcmpl-1","choices":[{"delta":{"content":"%d"}}]}\n\n' % n)
    recording.close(b"data: [DONE]\n\n")
    store.settle(use, recording, keep=True)
    assert store.held < 200 * KB


def test_a_request_that_was_given_up_can_begin_anew() -> None:
    store, timers = made()
    use = store.use("acct", "k", [b"body"])
    recording, caller = begun(store, use)
    caller.leave()
    assert store.find(use) is not None
    timers.advance(DETACHED_SECONDS)
    assert store.find(use) is None
    again, second = begun(store, use, "req_2")
    store.settle(use, recording, keep=False)  # the first comes to its end only now
    again.answer(200, [], b"x")
    store.settle(use, again, keep=True)
    earlier = store.find(use)
    assert earlier is not None
    assert earlier.request == "req_2"
    assert second.body == b"x"
    timers.advance(KEPT_SECONDS)
    assert store.held == 0


def test_keys_mean_nothing_outside_of_this_process() -> None:
    one, other = made()[0], made()[0]
    assert one.use("acct", "k", [b"x"]).name != other.use("acct", "k", [b"x"]).name
    assert one.use("acct", "k", [b"x"]).secret != other.use("acct", "k", [b"x"]).secret

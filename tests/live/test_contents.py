"""Messages are taken down beside the caller, packed and written later, never in anyone's way."""

import gzip
from collections.abc import Callable, Sequence

import pytest

from tests.store.rows import NOON, a_key, a_record
from zurelay.formats.transcript.whose import end_user
from zurelay.live import contents as module
from zurelay.live.contents import Capture, Contents
from zurelay.meter.content import DAY_S, Stored
from zurelay.relay.ports import Headers
from zurelay.telemetry.metrics import ContentHealth

KEY = a_key(store_days=3)


class Written:
    """A store that keeps what it is given, unless it is away."""

    def __init__(self) -> None:
        self.rows: list[Stored] = []
        self.away = 0
        self.tried = 0

    def seal(self, stored: Stored) -> bytes:
        if stored.request == "unsealed":
            raise LookupError
        self.sealed = stored
        return b"sealed"

    def add(self, rows: Sequence[tuple[Stored, bytes]]) -> None:
        self.tried += 1
        if self.tried <= self.away:
            raise OSError("the database is away")
        self.rows += [stored for stored, _ in rows]


class Caller:
    """A sink that writes down what it was told."""

    def __init__(self) -> None:
        self.paused = False
        self.told: list[object] = []

    def listen(self, gone: Callable[[], None], paused: Callable[[bool], None]) -> None:
        self.told.append("listen")

    def answer(self, status: int, headers: Headers, body: bytes) -> None:
        self.told.append((status, body))

    def open(self, status: int, headers: Headers, first: bytes = b"") -> None:
        self.told.append((status, first))

    def write(self, data: bytes) -> None:
        self.told.append(data)

    def close(self, last: bytes = b"") -> None:
        self.told.append(("close", last))

    def abort(self) -> None:
        self.told.append("abort")


def opened(body: bytes, encoding: str, most: int) -> bytes:
    assert encoding == "gzip"
    return gzip.decompress(body)


@pytest.fixture
def store() -> Written:
    return Written()


@pytest.fixture
def contents(store: Written) -> Contents:
    made = Contents(store, opened, end_user)
    made.enabled = True
    return made


def begun(contents: Contents, body: bytes = b'{"model":"m"}', encoding: str = "") -> Capture:
    capture = contents.begin(KEY, "openai_chat", body, encoding)
    assert capture is not None
    return capture


def test_nothing_is_taken_down_of_other_keys(contents: Contents) -> None:
    assert contents.begin(a_key(), "openai_chat", b"{}", "") is None
    assert contents.health().dropped == 0


def test_without_a_cipher_nothing_is_stored_and_it_is_counted(contents: Contents) -> None:
    contents.enabled = False
    assert contents.begin(KEY, "openai_chat", b"{}", "") is None
    assert contents.health().dropped == 1


async def test_a_stream_reaches_the_caller_and_the_store(
    contents: Contents, store: Written
) -> None:
    capture, caller = begun(contents), Caller()
    sink = capture.between(caller)
    caller.paused = True
    assert sink.paused
    sink.listen(lambda: None, lambda paused: None)
    sink.open(200, [], b"one ")
    sink.write(b"two ")
    sink.close(b"three")
    assert caller.told == ["listen", (200, b"one "), b"two ", ("close", b"three")]
    record = a_record(user="ann")
    capture.end(record)
    await contents.close()
    (stored,) = store.rows
    assert (stored.request, stored.account, stored.user) == (record.id, record.account, "ann")
    assert stored.expires == NOON + 3 * DAY_S
    content = store.sealed.content
    assert (content.body, content.answer) == (b'{"model":"m"}', b"one two three")
    assert (content.stream, content.ended) == (True, True)
    assert contents.health() == ContentHealth(stored=1)


async def test_an_answer_that_broke_off_is_stored_as_far_as_it_came(
    contents: Contents, store: Written
) -> None:
    capture = begun(contents)
    sink = capture.between(Caller())
    sink.open(200, [], b"one ")
    sink.abort()
    capture.end(a_record())
    await contents.close()
    assert (store.sealed.content.answer, store.sealed.content.ended) == (b"one ", False)


async def test_a_refusal_is_stored_with_its_body_opened(contents: Contents, store: Written) -> None:
    capture = begun(contents, gzip.compress(b'{"messages":[]}'), "gzip")
    capture.refused(a_record(), b'{"error":{}}')
    capture.end(a_record())
    await contents.close()
    assert len(store.rows) == 1
    content = store.sealed.content
    assert (content.body, content.answer, content.ended) == (
        b'{"messages":[]}',
        b'{"error":{}}',
        True,
    )


async def test_the_end_user_of_a_refused_body_is_known_so_that_it_can_be_erased(
    contents: Contents, store: Written
) -> None:
    unread = a_record(model="")
    begun(contents, b'{"user":"alice","messages":[]}').refused(unread, b"{}")
    begun(contents, b'{"user":"alice"}').end(unread)
    begun(contents, b'{"user":"alice"}').end(a_record())  # was read: what the record says is so
    await contents.close()
    assert [one.user for one in store.rows] == ["alice", "alice", None]


async def test_of_a_long_body_the_beginning_is_kept_however_small_it_packs(
    contents: Contents, store: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_PLAIN", 100)
    begun(contents, b"[" * 101).end(a_record())
    await contents.close()
    assert (store.sealed.content.body, store.sealed.content.body_cut) == (b"[" * 100, True)


async def test_a_body_that_does_not_open_is_left_out(contents: Contents, store: Written) -> None:
    capture = begun(contents, b"nonsense", "gzip")
    capture.refused(a_record(), b"{}")
    await contents.close()
    assert store.sealed.content.body == b""


async def test_what_is_too_long_is_cut_with_a_mark(
    contents: Contents, store: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    import random

    noise = random.Random(1).randbytes(3_000_000).hex().encode()
    capture = begun(contents, b'"!' + noise)
    capture.between(Caller()).answer(200, [], b"short")
    capture.end(a_record())
    await contents.close()
    content = store.sealed.content
    assert content.body_cut
    assert not content.answer_cut
    assert 1_000_000 < len(content.body) < 2_200_000
    assert content.body == (b'"!' + noise)[: len(content.body)]


async def test_an_endless_answer_is_kept_up_to_a_bound(
    contents: Contents, store: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_PLAIN", 100)
    capture, caller = begun(contents), Caller()
    sink = capture.between(caller)
    sink.open(200, [], b"x" * 60)
    for _ in range(1000):
        sink.write(b"y" * 60)
    assert len(caller.told) == 1001
    assert contents.held == 60
    capture.end(a_record())
    await contents.close()
    assert store.sealed.content.answer == b"x" * 60
    assert store.sealed.content.answer_cut


async def test_without_room_it_is_given_up_and_counted(store: Written) -> None:
    contents = Contents(store, opened, end_user, room=100)
    contents.enabled = True
    first, second = begun(contents, b"a" * 60), begun(contents, b"b" * 60)
    first.refused(a_record(), b"c" * 20)
    second.refused(a_record(), b"d" * 20)
    assert contents.health().dropped == 1
    assert contents.held == 80
    await contents.close()
    assert len(store.rows) == 1
    assert contents.held == 0


async def test_it_is_tried_again_while_the_store_is_away(
    contents: Contents, store: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_RETRY_S", 0.01)
    monkeypatch.setattr(module, "_DELAY_S", 0.0)
    store.away = 2
    begun_ = begun(contents)
    begun_.refused(a_record(), b"{}")
    writing = contents._writing
    assert writing is not None
    await writing
    assert store.tried == 3
    assert contents.health() == ContentHealth(stored=1)
    await contents.close()


async def test_at_the_end_it_does_not_wait_for_a_store_that_is_away(
    contents: Contents, store: Written
) -> None:
    store.away = 1000
    for _ in range(100):
        begun(contents).refused(a_record(), b"{}")
    await contents.close()
    assert contents.health() == ContentHealth(dropped=100)
    assert store.tried == 1  # each try may take as long as the database lets one wait

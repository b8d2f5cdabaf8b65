"""A run between a caller and upstreams that do what the test says, in the test's own loop."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from tests.plan import made
from tests.relay.callers import Caller
from zurelay.access.keys import Key
from zurelay.formats import registry
from zurelay.formats.base import Front
from zurelay.meter.ports import Hold
from zurelay.meter.record import RequestRecord
from zurelay.plan.affinity import Affinity
from zurelay.plan.health import Health
from zurelay.plan.planner import make_plan
from zurelay.plan.retries import RetryBudget
from zurelay.plan.route import Route, RoutingTable, ServedModel
from zurelay.relay.job import Job, Services
from zurelay.relay.runner import Run
from zurelay.relay.timing import Timing
from zurelay.testing.chat import chat_chunks, chat_reply
from zurelay.testing.script import sse_event
from zurelay.upstream.base import Call, Client, Receiver

STREAM = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}


class Handle:
    """A call under way: the test speaks through `receiver`."""

    def __init__(self, call: Call, receiver: Receiver) -> None:
        self.call = call
        self.receiver = receiver
        self.cancelled = False
        self.paused = False

    def cancel(self) -> None:
        self.cancelled = True

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False

    def say(self, *events: object) -> None:
        """The head of a stream and some of its events."""
        self.receiver.head(200, STREAM)
        for event in events:
            self.receiver.data(sse_event(event))  # type: ignore[arg-type]

    def stream(self, text: str = "Hi") -> None:
        """A whole stream."""
        self.say(*chat_chunks(text))
        self.receiver.end()

    def reply(self, content: Any = None, status: int = 200) -> None:
        """A whole plain answer."""
        self.receiver.head(status, JSON)
        self.receiver.data(json.dumps(chat_reply("Hi") if content is None else content).encode())
        self.receiver.end()


class Books:
    """A ledger whose records are durable at once: sooner than the real one ever says so."""

    def __init__(self) -> None:
        self.records: list[RequestRecord] = []

    def reserve(self, account: str, key: str, ceiling: int) -> Hold:
        raise NotImplementedError

    def settle(self, hold: Hold | None, record: RequestRecord, done: Callable[[], None]) -> None:
        self.records.append(record)
        done()


class Watcher:
    """An observer that counts."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def started(self) -> None:
        self.heard.append("started")

    def left(self) -> None:
        self.heard.append("left")

    def stream_opened(self) -> None:
        self.heard.append("opened")

    def stream_closed(self) -> None:
        self.heard.append("closed")

    def finished(self, record: RequestRecord) -> None:
        self.heard.append(record.status)


@dataclass
class Scene:
    """Everything around one run.

    Attributes:
        fields: of the request, beside the usual ones.
        facts: of the model, beside its price of 1 and 5 USD a million.
        markup: of the key.
        calls: what was sent upstream, in order.
        done: how often the run said that it is over.
    """

    stream: bool
    routes: int = 2
    exposed: bool = False
    fields: Mapping[str, object] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    markup: int | None = None
    caller: Caller = field(default_factory=Caller)
    calls: list[Handle] = field(default_factory=list)
    books: Books = field(default_factory=Books)
    watcher: Watcher = field(default_factory=Watcher)
    done: list[Run] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.front: Front = registry.front("openai_chat")
        self.job = self._job()
        services = Services(
            ledger=cast("Any", self.books),
            health=Health(),
            affinity=Affinity(),
            retries=RetryBudget(),
            observer=self.watcher,
            exchange=registry.exchange,
            client=lambda _: cast("Client", self),
            downloads=cast("Any", None),
            wall=lambda: 1.7e9,
            jitter=lambda: 0.5,
        )
        loop = asyncio.get_running_loop()
        self.run = Run(self.job, services, self.caller, loop, "zurelay", self.done.append)
        self.run.start()

    def send(self, call: Call, receiver: Receiver) -> Handle:
        """As `upstream.base.Client` has it."""
        self.calls.append(Handle(call, receiver))
        return self.calls[-1]

    @property
    def row(self) -> RequestRecord:
        """The one row there must be."""
        [row] = self.books.records
        return row

    def _job(self) -> Job:
        message = {"role": "user", "content": "Hi"}
        body = {"model": "m", "messages": [message], "stream": self.stream, **self.fields}
        inbound = self.front.read(json.dumps(body).encode())
        routes = [
            made.route(f"p{number}", f"upstream-{number}", priority=number)
            for number in range(1, self.routes + 1)
        ]
        numbered = tuple(
            Route(one.id, place, one.provider, one.upstream_model, one.priority)
            for place, one in enumerate(routes, 1)
        )
        model = made.model("m", price=(10**12, 5 * 10**12), reasoning=None)
        model = replace(model, **self.facts)
        table = RoutingTable({"m": ServedModel(model, numbered)})
        plan = make_plan(
            table,
            inbound,
            may_use=lambda _: True,
            health=Health(),
            affinity=Affinity(),
            account="a",
            now=0.0,
            draw=lambda: 0.5,
        )
        key = Key("key_1", "k", "a", "a", b"", "last", 0)
        return Job(
            inbound=inbound,
            front=self.front,
            plan=plan,
            record=RequestRecord("req_1", 1.7e9, key.account, key.id, "/v1/chat/completions", "m"),
            hold=cast("Hold", object()),
            timing=Timing(),
            answer_id="chatcmpl-1",
            created=1_700_000_000,
            started=asyncio.get_running_loop().time(),
            redact=lambda text: text.replace("SECRET", "[redacted]"),
            expose_routes=self.exposed,
            markup=self.markup,
        )

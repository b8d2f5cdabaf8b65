"""What the console is given by the process it runs in. Knows no page."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from zurelay.console.oidc import OidcClient
from zurelay.console.throttle import Throttle
from zurelay.office.desk import Desk
from zurelay.plan.health import Health
from zurelay.plan.route import RoutingTable


class Asked(Protocol):
    """A model request that was let in, and its answer as it comes.

    Attributes:
        cut: the answer ended before its end.
    """

    cut: bool

    async def head(self) -> tuple[int, Sequence[tuple[bytes, bytes]]] | None:
        """Status and headers once they are there; None if none will come, or after `leave`."""
        ...

    async def piece(self) -> bytes | None:
        """More of the answer; None at its end."""
        ...

    def leave(self) -> None:
        """Nobody reads on."""
        ...


Ask = Callable[[bytes, bytes, list[tuple[bytes, bytes]], str], Awaitable[Asked]]
"""Asks a model: the hash of a key, the body of a Chat Completions request, the headers of the call
that brings it, and where it comes from. Raises Refused where the key does not work."""


@dataclass(frozen=True, slots=True)
class SettingShown:
    """A setting in force.

    Attributes:
        table: where it stands, such as `server` or `providers.main`; `key` is its name there.
        value: as it may be shown; a secret is dots, or empty where there is none.
        default: what counts without it.
        source: the variable (`$NAME`) or file (`file:...`) that the file takes it from.
        restart: a change takes effect at the next start.
    """

    table: str
    key: str
    value: str
    default: str
    origin: Literal["file", "environment", "default"]
    source: str
    doc: str
    restart: bool


@dataclass(frozen=True, slots=True)
class ConsoleParts:
    """Alive as long as the process.

    Attributes:
        desk: where people's use cases happen; its functions block and belong into threads.
        health, table: what is served now and how it stands; to be read on the event loop.
        redact: makes a provider's own words fit to be shown.
        now: the clock that `health` is told; `wall` is Unix time.
        brand: what the product calls itself.
        base_url: what clients set, without `/v1` and without a slash at the end.
        public_url: as configured; empty where it is not.
        support_email: where users are sent with questions; may be empty.
        request_id: names a call.
        address: who a request comes from, by its peer and `X-Forwarded-For`.
        example_model: the id of a model that is served.
        oidc: signs people in by an OpenID Connect provider, where one is configured.
        ask: lets a request of the playground in; to be called on the event loop.
        settings: those in force.
        host, process, name: who this process is: its machine, its id among all that share the
            store, and what people call it.
    """

    desk: Desk
    health: Health
    table: Callable[[], RoutingTable]
    redact: Callable[[str], str]
    now: Callable[[], float]
    wall: Callable[[], float]
    brand: Callable[[], str]
    base_url: Callable[[], str]
    public_url: Callable[[], str]
    support_email: Callable[[], str]
    request_id: Callable[[], str]
    address: Callable[[str, bytes | None], str]
    example_model: Callable[[], str]
    throttle: Throttle
    oidc: OidcClient
    ask: Ask
    settings: Callable[[], Sequence[SettingShown]]
    host: str = ""
    process: str = ""
    name: str = ""

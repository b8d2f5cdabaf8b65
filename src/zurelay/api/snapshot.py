"""What a reload of the configuration replaces, as one immutable value.

A request takes the snapshot it began with to its end.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from zurelay.api.addresses import Network
from zurelay.live.bounds import KeyDefaults
from zurelay.plan.route import RoutingTable
from zurelay.relay.timing import Timing


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Settings in force on the data plane.

    Attributes:
        table: what is served.
        timing: deadlines of streams and routes.
        connect_deadline_s: DNS, TCP and TLS of an upstream together.
        wire: the word in our header names and in the model id of the smart choice.
        brand: the product's name for people.
        max_body: most bytes of a request body after decompression.
        max_inflight: most bytes of all request bodies being read together.
        redact: removes configured secrets and addresses from a text and cuts it.
        config_hash: names this configuration.
        max_streams: streams open at once.
        trusted_proxies: whose `X-Forwarded-For` is believed, for the log.
        expose_routes: whether callers see providers and their own error texts; None: while there
            is one account.
        prepaid: whether accounts need a balance, where they do not say.
        key_limits: what a key may use where it does not say.
        output_estimate: token limit of callers who pay in advance and set none; None for one made
            of the effort and of the money that is left.
        zone: IANA time zone of budget periods, where accounts do not say.
    """

    table: RoutingTable
    timing: Timing
    connect_deadline_s: float
    wire: str
    brand: str
    max_body: int
    max_inflight: int
    redact: Callable[[str], str]
    config_hash: str = ""
    max_streams: int = 10_000
    trusted_proxies: tuple[Network, ...] = ()
    expose_routes: bool | None = False
    prepaid: bool = False
    output_estimate: int | None = None
    zone: str = "UTC"
    key_limits: KeyDefaults = field(default_factory=KeyDefaults)

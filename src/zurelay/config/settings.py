"""Every setting there is: name, type, default, meaning. The one schema.

Parsing, `zurelay check`, reload reports and the documentation page all read it from here. Knows
no file and no environment.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from zurelay.catalogue.model import Price, Reasoning
from zurelay.config import values as v
from zurelay.config.alerts import Alerts
from zurelay.config.auto import AutoSettings
from zurelay.config.log import Log
from zurelay.config.models import (
    HEADERS,
    INPUT,
    LIMITS,
    PRICE,
    QUIRKS,
    REASONING,
    ROUTES,
    ModelLimits,
    RouteSetting,
)
from zurelay.config.oidc import Oidc
from zurelay.config.schema import REQUIRED, setting
from zurelay.config.smtp import Smtp


@dataclass(frozen=True, slots=True)
class Server:
    """Where the gateway listens, and the bounds that keep it alive."""

    host: str = setting(
        v.text("127.0.0.1", empty=False),
        "127.0.0.1",
        'Address to listen on. "0.0.0.0" opens the gateway to the network.',
        restart=True,
    )
    port: int = setting(
        v.whole(0, 65535, 8000), 8000, "Port to listen on; 0 takes any free one.", restart=True
    )
    public_url: str = setting(
        v.address("https://ai.example.com"),
        "",
        "What clients see, used in links and docs. Empty: made from host and port.",
    )
    max_body_mb: int = setting(
        v.whole(1, 1024, 64), 64, "Largest request body in MB, after decompression."
    )
    max_inflight_mb: int = setting(
        v.whole(1, 1_048_576, 512),
        512,
        "All request bodies together, in MB; beyond that new ones get 503 unread.",
    )
    shutdown_grace_s: float = setting(
        v.seconds(0, 86_400, 600), 600.0, "How long running answers may finish at a stop."
    )
    drain_delay_s: float = setting(
        v.seconds(0, 600, 5),
        5.0,
        "How long requests are still taken after a stop was asked for, so that balancers notice.",
    )
    keep_alive_idle_s: float = setting(
        v.seconds(1, 86_400, 75),
        75.0,
        "How long an idle client connection is kept; longer than the balancer in front keeps it.",
        restart=True,
    )
    write_stall_s: float = setting(
        v.seconds(1, 86_400, 60), 60.0, "A client that takes nothing for this long counts as gone."
    )
    stream_max_s: float = setting(
        v.seconds(1, 604_800, 3600), 3600.0, "Longest life of one stream."
    )
    max_streams: int = setting(
        v.whole(1, 1_000_000, 10_000), 10_000, "Streams open at once; beyond that 503."
    )
    trusted_proxies: tuple[str, ...] = setting(
        v.listing(v.NETWORK, '"10.0.0.0/8"'),
        (),
        "Proxies whose X-Forwarded-For is believed.",
    )
    expose_routes: bool | None = setting(
        v.FLAG,
        None,
        "Whether callers see providers, their model names and their own error texts.",
        shown="true while there is one account",
    )


@dataclass(frozen=True, slots=True)
class Brand:
    """What the product calls itself."""

    name: str = setting(
        v.text("Zurelay", most=60, empty=False), "Zurelay", "Shown in console and docs."
    )
    wire: str = setting(
        v.word("zurelay"),
        "zurelay",
        "The word in `x-zurelay-*` headers and in the model id `zurelay-auto`.",
    )
    support_email: str = setting(
        v.text("help@example.com", most=254), "", "Where users are sent with questions."
    )


@dataclass(frozen=True, slots=True)
class Storage:
    """Where keys and the request log are kept."""

    url: str = setting(
        v.database(),
        "",
        "The database: PostgreSQL 16 or newer, such as"
        " `postgresql://user:password@host/database`, or the SQLite file in --data.",
        shown="SQLite in --data",
        restart=True,
    )
    valkey_url: str = setting(
        v.VALKEY,
        "",
        'Where several nodes share limits and what they learn: "valkey://host:6379/0", or'
        ' "valkeys://" for TLS. Valkey, or Redis from 7.0 on; no cluster.',
        shown="each process by itself",
        restart=True,
    )
    power_safe: bool = setting(
        v.FLAG,
        False,
        "Settled charges survive a power cut too, at some cost in speed; a killed process loses"
        " none either way.",
        restart=True,
    )


@dataclass(frozen=True, slots=True)
class Streaming:
    """How streams behave while a model is silent."""

    early_open_s: float = setting(
        v.seconds(0.1, 3600, 20),
        20.0,
        "After this long without a first token the stream opens anyway, so that clients do not"
        " give up.",
    )
    keep_alive_s: float = setting(
        v.seconds(0.1, 3600, 15), 15.0, "A silence this long on an open stream is filled."
    )


@dataclass(frozen=True, slots=True)
class Routing:
    """How long a route may take, and how many are tried."""

    connect_deadline_s: float = setting(v.seconds(0.1, 120, 5), 5.0, "DNS, TCP and TLS together.")
    start_deadline_s: float = setting(
        v.seconds(0.1, 3600, 180), 180.0, "For the first token of a route."
    )
    start_deadline_high_effort_s: float = setting(
        v.seconds(0.1, 3600, 300), 300.0, "The same when the effort in force is high, xhigh or max."
    )
    idle_deadline_s: float = setting(
        v.seconds(0.1, 3600, 180), 180.0, "Longest silence between two events of an answer."
    )
    idle_deadline_high_effort_s: float = setting(
        v.seconds(0.1, 3600, 300), 300.0, "The same when the effort in force is high, xhigh or max."
    )
    request_deadline_s: float = setting(
        v.seconds(0.1, 7200, 570),
        570.0,
        "A whole plain answer; for streams the wait for the first token over all routes. SDKs give"
        " up after 600 s.",
    )
    attempts: int = setting(v.whole(1, 50, 6), 6, "Routes tried for one request at most.")
    hedge: bool = setting(
        v.FLAG,
        False,
        "Ask a second route when the first is slower than it usually is; at most 2 % of requests."
        " May cost more.",
    )


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The built-in models for trying out error handling."""

    enabled: bool = setting(v.FLAG, True, "Serve the `sandbox/*` models. They cost nothing.")


@dataclass(frozen=True, slots=True)
class Billing:
    """Who pays, and when."""

    prepaid: bool = setting(
        v.FLAG,
        False,
        "Accounts need a balance before they may ask, where an account does not say otherwise.",
    )
    zone: str = setting(
        v.ZONE,
        "UTC",
        "Time zone in which budgets' days, weeks and months begin, where an account does not say.",
    )
    markup: str = setting(
        v.FACTOR,
        "1.0",
        'Callers pay the price times this factor, such as "1.25"; the one of a model, an account or'
        " a key stands in its place, the last of these that has one.",
    )
    output_estimate: int = setting(
        v.whole(0, 10_000_000, 8192),
        0,
        "Output tokens paid for in advance, and asked for at most, where a caller with a balance or"
        " budget sets no limit; 0: what the effort needs, or what a quarter of the money pays.",
    )


@dataclass(frozen=True, slots=True)
class LimitsSettings:
    """What every key may use where nothing is set on the key itself."""

    concurrency: int = setting(
        v.whole(0, 1_000_000, 100),
        100,
        "Requests of one key under way at once, on each node; 0 for no bound.",
    )
    rpm: int | None = setting(
        v.whole(1, 1_000_000_000, 600),
        None,
        "Requests of one key in 60 seconds, over all nodes.",
        shown="no limit",
    )
    tpm: int | None = setting(
        v.whole(1, 1_000_000_000_000, 1_000_000),
        None,
        "Tokens of one key in 60 seconds, input and output, over all nodes.",
        shown="no limit",
    )


@dataclass(frozen=True, slots=True)
class CatalogueSettings:
    """What is known about models."""

    file: str = setting(
        v.text("models.json"),
        "",
        "A file of models laid over the built-in catalogue; a relative path starts at this file's"
        " folder.",
    )


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """An account at a vendor, or a server of your own. The table's name is yours to choose."""

    kind: str = setting(
        v.text("openai", empty=False),
        REQUIRED,
        "The vendor or kind of server; `zurelay check` names the nearest one for a wrong word.",
    )
    base_url: str = setting(
        v.address("https://api.openai.com/v1"),
        "",
        "Its address.",
        shown="the vendor's own",
    )
    api_key: str = setting(
        v.secret("$OPENAI_API_KEY"),
        "",
        "The credential. It is never sent to another address than this provider's.",
        shown="the vendor's usual environment variable, unless base_url is given",
    )
    api_keys: tuple[str, ...] = setting(
        v.listing(v.secret("$KEY_A"), '"$KEY_A", "$KEY_B"'),
        (),
        "Several credentials, for rotation; the first is in use. Instead of api_key.",
    )
    region: str = setting(
        v.word("us-east-1", empty=True),
        "",
        "Region of an account at AWS; the address follows from it.",
        shown="`AWS_REGION`, for `bedrock`",
    )
    access_key_id: str = setting(
        v.secret("$AWS_ACCESS_KEY_ID"),
        "",
        "What requests to AWS are signed with, in place of api_key.",
        shown="`AWS_ACCESS_KEY_ID`, for `bedrock`",
    )
    secret_access_key: str = setting(
        v.secret("$AWS_SECRET_ACCESS_KEY"),
        "",
        "Belongs to access_key_id. It is never sent.",
        shown="`AWS_SECRET_ACCESS_KEY`, for `bedrock`",
    )
    session_token: str = setting(
        v.secret("$AWS_SESSION_TOKEN"),
        "",
        "Belongs to access_key_id where that is a temporary one.",
        shown="`AWS_SESSION_TOKEN`, for `bedrock`",
    )
    project: str = setting(
        v.text("my-project", most=100),
        "",
        "Project of an account at Vertex AI; the address follows from it.",
        shown="the service account's own",
    )
    location: str = setting(
        v.text("europe-west4", most=40),
        "",
        "Region of an account at Vertex AI.",
        shown="global",
    )
    credentials: str = setting(
        v.document("file:/run/secrets/service-account.json"),
        "",
        "Key file of a service account at Vertex AI, in place of api_key. It is never sent; the"
        " tokens it is exchanged for are.",
    )
    label: str = setting(
        v.text("primary", most=60), "", "What callers may see of it.", shown="nothing"
    )
    headers: Mapping[str, str] = setting(
        HEADERS, MappingProxyType({}), "Further headers to send to it, name to value."
    )
    catalogue: bool = setting(
        v.FLAG,
        True,
        "Serve every model of its vendor's catalogue, or of its own list. false: only what"
        " `[models.X] routes` names.",
    )
    max_concurrency: int | None = setting(
        v.whole(1, 1_000_000, 50), None, "Attempts under way at once.", shown="no bound"
    )
    single_tenant: bool = setting(
        v.FLAG,
        False,
        "Whether whoever may call the gateway may read all that is stored in this account: files by"
        " their id, containers, credentials of MCP servers. Without it such requests are a 400.",
    )
    quirks: Mapping[str, object] = setting(
        QUIRKS,
        MappingProxyType({}),
        "How this server differs from its kind, such as `{ think_tags = true }`.",
    )


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """One model, by its public id. All but `routes` and `fallbacks` defaults to the catalogue."""

    routes: tuple[RouteSetting, ...] | None = setting(
        ROUTES,
        None,
        "How it is reached, in order: names of providers, or tables"
        ' `{ provider = "x", model = "its name there", weight = 1, priority = 1 }`. Lower priority'
        " first; weight shares load inside one priority.",
        shown="every provider that has it",
    )
    fallbacks: tuple[str, ...] = setting(
        v.listing(v.text("gpt-6-sol", empty=False), '"gpt-6-sol"'),
        (),
        "Models tried after it and after a request's own `models`.",
    )
    name: str | None = setting(
        v.text("Claude Opus", most=120, empty=False),
        None,
        "Its name for people.",
        shown="catalogue",
    )
    reasoning: Reasoning | None = setting(  # noqa: RUF009 - a field
        REASONING,
        None,
        'Effort levels, lowest first: `{ levels = [...], default = "medium" }`; also'
        " `budget = [least, most]` in tokens. `levels = []`: a model without reasoning.",
        shown="catalogue",
    )
    context: int | None = setting(
        v.whole(1, 1_000_000_000, 128_000), None, "Window in tokens.", shown="catalogue"
    )
    max_output: int | None = setting(
        v.whole(1, 1_000_000_000, 16_000), None, "Most tokens of an answer.", shown="catalogue"
    )
    input: tuple[str, ...] | None = setting(
        INPUT,
        None,
        "Kinds of input it takes: text, image, pdf, audio, video.",
        shown="catalogue",
    )
    tools: bool | None = setting(v.FLAG, None, "Whether it takes tools.", shown="catalogue")
    limits: ModelLimits | None = setting(  # noqa: RUF009 - a field
        LIMITS,
        None,
        "What all callers together may use of it: `{ rpm = 600, tpm = 1000000, concurrency = 50 }`,"
        " requests and tokens in 60 seconds and requests at once; any of them alone.",
        shown="no limit",
    )
    auto_cache: bool = setting(
        v.FLAG,
        False,
        "Set prompt-cache breakpoints for Claude where the caller set none. Writes cost more than"
        " plain input, reads far less.",
    )
    price: Price | None = setting(  # noqa: RUF009 - a field
        PRICE,
        None,
        'USD per million tokens as text, since fractions would be inexact: `{ input = "4.00",'
        ' output = "20.00" }`; also cached_input, cache_write, cache_write_long, audio_input,'
        " image_input, audio_output, image_output, per_request and per_call (USD for each),"
        " above = [{ prompt_tokens = 200000, input = ... }] for dearer long prompts, tiers and"
        ' hours; see the page on prices. Or "free".',
        shown="catalogue",
    )
    markup: str | None = setting(
        v.FACTOR,
        None,
        "Callers pay its price times this factor.",
        shown="that of `[billing]`",
    )
    quirks: Mapping[str, object] = setting(
        QUIRKS, MappingProxyType({}), "How it differs from its provider.", shown="catalogue"
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """A whole configuration, checked.

    Attributes:
        providers: by name, in file order.
        models: by public id, in file order.
        origin: `file`, `environment` (providers found there) or `sandbox` (nothing found).
        path: the file, if there is one.
        sources: files whose change calls for a reload: the file itself and every `file:` value.
        config_hash: 12 hex digits that differ whenever a setting does.
        given: what the file says, by dotted key, with references as they stand there.
        data_dir: the folder of the embedded store.
    """

    server: Server = field(default_factory=Server)
    brand: Brand = field(default_factory=Brand)
    storage: Storage = field(default_factory=Storage)
    streaming: Streaming = field(default_factory=Streaming)
    routing: Routing = field(default_factory=Routing)
    sandbox: Sandbox = field(default_factory=Sandbox)
    oidc: Oidc = field(default_factory=Oidc)
    smtp: Smtp = field(default_factory=Smtp)
    alerts: Alerts = field(default_factory=Alerts)
    billing: Billing = field(default_factory=Billing)
    limits: LimitsSettings = field(default_factory=LimitsSettings)
    auto: AutoSettings = field(default_factory=AutoSettings)
    log: Log = field(default_factory=Log)
    catalogue: CatalogueSettings = field(default_factory=CatalogueSettings)
    providers: Mapping[str, ProviderSettings] = field(default_factory=dict)
    models: Mapping[str, ModelSettings] = field(default_factory=dict)
    origin: Literal["file", "environment", "sandbox"] = "file"
    path: Path | None = None
    sources: tuple[Path, ...] = ()
    config_hash: str = ""
    given: Mapping[str, object] = field(default_factory=dict, repr=False, compare=False)
    data_dir: Path = Path("zurelay-data")


TABLES: Mapping[str, type] = MappingProxyType(
    {
        "server": Server,
        "brand": Brand,
        "storage": Storage,
        "streaming": Streaming,
        "routing": Routing,
        "sandbox": Sandbox,
        "oidc": Oidc,
        "smtp": Smtp,
        "alerts": Alerts,
        "billing": Billing,
        "limits": LimitsSettings,
        "auto": AutoSettings,
        "log": Log,
        "catalogue": CatalogueSettings,
    }
)
"""Tables that stand once, in the order of the documentation."""

NAMED_TABLES: Mapping[str, type] = MappingProxyType(
    {"providers": ProviderSettings, "models": ModelSettings}
)
"""Tables that stand once for each name: `[providers.X]`, `[models."X"]`."""

"""What the gateway is started with, and what it tells once it listens."""

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from zurelay.config.settings import Settings


class CannotListenError(Exception):
    """The address cannot be listened on; one line for an operator."""


class WorkersError(Exception):
    """Several workers cannot be started, or did not stay up; one line for an operator."""


@dataclass(frozen=True, slots=True)
class Crew:
    """What a worker has in common with the others of its server.

    Attributes:
        workers: how many there are.
        token: what commands on this machine call any of them with.
        scrape: gives the metrics of all of them.
    """

    workers: int
    token: str = field(repr=False)
    scrape: Callable[[], Awaitable[bytes]] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The arguments of `zurelay serve`; None leaves a value to the configuration.

    Attributes:
        ballast_mb: disk space kept back so that running requests can be settled on a full disk.
        crew: for one of several workers, which listen on the same address.
    """

    data_dir: Path
    config_path: Path | None = None
    host: str | None = None
    port: int | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)
    ballast_mb: int = 64
    crew: Crew | None = None


@dataclass(frozen=True, slots=True)
class Started:
    """Facts for a person, once the gateway listens.

    Attributes:
        base_url: what clients set, without `/v1`.
        first_key: the text of the key made at this first start; None at every later one.
        models: how many models are served.
        providers: name -> how many models it reaches.
        workers: how many processes serve.
    """

    settings: Settings
    base_url: str
    first_key: str | None
    models: int
    providers: Mapping[str, int]
    example_model: str
    workers: int = 1

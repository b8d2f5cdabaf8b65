"""`zurelay doctor`: looks at everything a gateway stands on and says what is wrong with it."""

import asyncio
import platform
import resource
import shutil
import sqlite3
import ssl
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from zurelay import __version__
from zurelay.cli.examining import Finding, State, clock, examine
from zurelay.cli.options import DATA, Config, Data, Json, example, opened, settings
from zurelay.cli.terminal import Failed, clean, colours, counted, print_json, progress

if TYPE_CHECKING:
    from zurelay.config.log import Log
    from zurelay.config.settings import Settings
    from zurelay.live.valkey import Valkey

_FILES = 65_536
_FREE_BYTES = 1_000_000_000
_MARKS = {"ok": ("ok", "32"), "warning": ("!!", "33"), "fault": ("XX", "31")}


def add_to(app: typer.Typer) -> None:
    """Make the command part of the program."""
    app.command("doctor", epilog=example("doctor --config zurelay.toml"))(doctor)


def doctor(config: Config = None, data: Data = DATA, as_json: Json = False) -> None:
    """Check store, shared state, providers, mail, clock, versions, limits. Exit code 1 on a fault.

    Providers are asked for their list of models; nothing is spent. The server of mail is greeted
    and signed in to; no mail is sent.
    """
    findings = [*_versions(), *_limits(data)]
    found, told = _configuration(config, data)
    valkey = found is not None and bool(found.storage.valkey_url)
    log = None if found is None else found.log
    findings += [*told, *_store(config, data, log, valkey=valkey)]
    if found is not None:
        findings += [*_providers(found), _mail(found)]
    if as_json:
        print_json([{"what": f.what, "state": f.state, "says": f.says} for f in findings])
    else:
        _print(findings)
    if any(one.state == "fault" for one in findings):
        raise typer.Exit(1)


def _print(findings: Sequence[Finding]) -> None:
    width = max(len(one.what) for one in findings)
    for one in findings:
        mark, colour = _MARKS[one.state]
        shown = f"\x1b[{colour}m{mark}\x1b[0m" if colours() else mark
        sys.stdout.write(f"{shown}  {clean(one.what):<{width}}  {clean(one.says)}\n")


def _versions() -> Iterator[Finding]:
    yield Finding(
        "versions",
        "ok",
        f"Zurelay {__version__}, Python {platform.python_version()}, SQLite"
        f" {sqlite3.sqlite_version}, {ssl.OPENSSL_VERSION}, {platform.system()}"
        f" {platform.release()} {platform.machine()}",
    )


def _limits(data: Path) -> Iterator[Finding]:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < _FILES:
        says = f"{hard} at most, about {hard // 2} streams at once; raise it: ulimit -Hn {_FILES}"
        yield Finding("open files", "warning", says)
    else:
        yield Finding("open files", "ok", "enough for every stream")
    place = next(one for one in (data.resolve(), *data.resolve().parents) if one.exists())
    free = shutil.disk_usage(place).free
    state: State = "ok" if free >= _FREE_BYTES else "warning"
    yield Finding("disk", state, f"{free / 1e9:.1f} GB free for {data}")


def _configuration(config: Path | None, data: Path) -> "tuple[Settings | None, list[Finding]]":
    from zurelay.cli.serve import origin
    from zurelay.config import ConfigError

    try:
        found = settings(config, data)
    except ConfigError as error:
        return None, [Finding("configuration", "fault", str(fault)) for fault in error.faults]
    says = f"{origin(found)} (hash {found.config_hash})"
    return found, [Finding("configuration", "ok", says), _shared(found.storage.valkey_url)]


def _shared(url: str) -> Finding:
    from zurelay.live.valkey import SharedStateError, Valkey
    from zurelay.live.valkey_address import parse

    if not url:
        return Finding("shared state", "ok", "none: each process by itself")
    address = parse(url)
    try:
        found = asyncio.run(_examined(Valkey(address)))
    except SharedStateError as error:
        return Finding("shared state", "fault", f"{address}: {error}")
    return Finding("shared state", "ok", f"{address}, {found}")


async def _examined(valkey: "Valkey") -> str:
    return await valkey.examine()


def _store(
    config: Path | None, data: Path, log: "Log | None", *, valkey: bool
) -> Iterator[Finding]:
    from zurelay.app.contents import sealer_of
    from zurelay.cli.examining_alerts import alerts
    from zurelay.cli.examining_mail import outbox
    from zurelay.cli.examining_store import messages, shared, spool
    from zurelay.config import ConfigError
    from zurelay.store.errors import StoreError
    from zurelay.store.keys import list_keys

    beside: list[Finding] = []
    try:
        with opened(config, data) as store:
            size, damage = store.examine()
            if not damage:
                with store.read() as connection:
                    keys = list_keys(connection)
                beside = [*shared(store, valkey=valkey), *spool(store, data), *outbox(store)]
                if log is not None:
                    beside.append(messages(store, keys, sealer_of(log)))
                beside += alerts(store)
    except Failed:
        yield Finding("store", "ok", f"none in {data} yet; the first start makes it")
    except StoreError as error:
        yield Finding("store", "fault", str(error))
    except ConfigError:
        return  # told as a fault of the configuration
    else:
        if damage:
            yield Finding("store", "fault", f"{store.name} is damaged: {damage}; restore a backup")
            return
        told = f"{store.name}, {size / 1e6:.1f} MB, {counted(len(keys), 'key')}"
        yield Finding("store", "ok", told)
        yield from beside


def _providers(found: "Settings") -> Iterator[Finding]:
    from zurelay.config import providers

    wanted = [one for one in providers(found) if one.base_url.startswith(("http://", "https://"))]
    if not wanted:
        yield Finding("providers", "ok", "none but the sandbox")
        return
    with progress(f"asking {', '.join(one.name for one in wanted)}"):
        seen = asyncio.run(examine(wanted))
    for one in seen:
        yield one.finding
    yield clock([one.offset for one in seen if one.offset is not None])


def _mail(found: "Settings") -> Finding:
    from zurelay.cli.examining_mail import server

    with progress("asking the server of mail"):
        return server(found.smtp)

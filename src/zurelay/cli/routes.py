"""`zurelay routes`: how every route of a running gateway stands."""

import asyncio
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import msgspec
import typer

from zurelay.cli.options import DATA, HOME, Config, Data, Json, example, http_client, settings
from zurelay.cli.terminal import Failed, note, print_json, print_table, seconds

if TYPE_CHECKING:
    from collections.abc import Mapping

_SECONDS = 10.0
_COLUMNS = (
    "model",
    "route",
    "provider:model",
    "prio",
    "weight",
    "state",
    "ok",
    "first p50 s",
    "p95 s",
    "now",
    "last error",
)


def add_to(app: typer.Typer) -> None:
    """Make the command part of the program."""
    app.command("routes", epilog=example("routes --model gpt-6-sol"))(routes)


def routes(
    config: Config = None,
    data: Data = DATA,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="M", help="Only of this model.", show_default=False),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            metavar="P", min=1, max=65535, help="Where the gateway listens.", show_default=False
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show every route: whether it is up, how fast it answers, how it failed last.

    Asks the gateway that runs on the data folder. Another one is named by --port or
    ZURELAY_BASE_URL, and let in to by ZURELAY_ADMIN_TOKEN. Without a running gateway the
    configured routes are shown, their state unknown.
    """
    asked = target(os.environ, data, port)
    told = None if asked is None else asyncio.run(_ask(asked, model))
    if told is not None:
        rows = told["data"]
        _note_whom(told)
    else:
        where = f" at {asked.base_url}" if asked else f" on {data}"
        note(f"note: no gateway runs{where}; these are the routes of the configuration")
        rows = _configured(config, data, model)
    if as_json:
        print_json(rows)
        return
    print_table(
        _COLUMNS,
        [_row(row) for row in rows],
        right=("route", "prio", "weight", "ok", "first p50 s", "p95 s", "now"),
        spare=("weight", "prio", "last error", "now", "route", "p95 s"),
        whole=("model",),
        empty="no route" if model is None else f"no route of {model}",
    )


@dataclass(frozen=True, slots=True)
class Target:
    """A gateway and what lets one in. `base_url` without `/v1`."""

    base_url: str
    token: str = field(repr=False)


def target(environ: "Mapping[str, str]", data: Path, port: int | None) -> Target | None:
    """The gateway to ask; None if none is named and none runs on the data folder.

    The folder's own token is never sent anywhere but to the gateway that wrote it.

    Raises:
        Failed: a gateway is named, but nothing lets one in.
    """
    from zurelay.app.local_token import read

    local = read(data)
    token = environ.get("ZURELAY_ADMIN_TOKEN", "").strip()
    named = f"http://127.0.0.1:{port}" if port else environ.get("ZURELAY_BASE_URL", "").strip()
    named = named.rstrip("/").removesuffix("/v1")
    if named and "://" not in named:
        named = f"http://{named}"
    if token:
        return Target(named or (local[1] if local else HOME), token)
    if local is None:
        return None
    if named in ("", local[1]):
        return Target(local[1], local[0])
    raise Failed(
        f"the gateway on {data} is at {local[1]}; for the one at {named} set ZURELAY_ADMIN_TOKEN"
    )


async def _ask(asked: Target, model: str | None) -> dict[str, Any] | None:
    """Its routes, and whom it speaks for; None if nothing answers there."""
    from zurelay.upstream.base import Call, UpstreamError

    query = "" if model is None else f"?model={quote(model, safe='')}"
    call = Call(
        "GET",
        f"{asked.base_url}/api/v1/routes{query}",
        (("authorization", f"Bearer {asked.token}"), ("accept", "application/json")),
        b"",
    )
    async with http_client() as client:
        try:
            async with asyncio.timeout(_SECONDS):
                response = await client.fetch(call)
        except (UpstreamError, TimeoutError):
            return None
    try:
        told = msgspec.json.decode(response.body)
        if response.status == 200:
            told["data"] = list(told["data"])
            return dict(told)
        message = str(told["error"]["message"])
    except (msgspec.DecodeError, LookupError, TypeError):
        message = f"it answered with status {response.status}"
    raise Failed(f"{asked.base_url}: {message}")


def _note_whom(told: dict[str, Any]) -> None:
    """Say where the rows do not speak for all."""
    processes = told.get("processes", ())  # an older gateway speaks for itself, and does not say so
    ages = [one["age_s"] for one in processes if one["counted"]]
    if told.get("store_away"):
        note("note: the store does not answer; this is what the asked process alone knows")
    elif len(ages) > 1:
        note(f"note: {len(ages)} processes together; the oldest report is {max(ages):.0f} s old")
    for one in processes:
        if not one["counted"]:
            note(f"note: {one['name']} was last heard of {one['age_s']:.0f} s ago and is left out")


def _configured(config: Path | None, data: Path, model: str | None) -> list[dict[str, Any]]:
    from zurelay.cli.models import routing_table
    from zurelay.plan.view import routes_view

    return routes_view(routing_table(settings(config, data)), (), model)


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    rate = row["success_rate"]
    errors = row["last_errors"]
    return (
        row["model"],
        str(row["route"]),
        row["id"],
        str(row["priority"]),
        f"{row['weight']:g}",
        _state(row),
        "" if rate is None else f"{rate:.0%} of {row['samples']}",
        seconds(row["first_token_p50_ms"]),
        seconds(row["first_token_p95_ms"]),
        "" if row["in_flight"] is None else str(row["in_flight"]),
        _error(errors[0]) if errors else "",
    )


def _state(row: dict[str, Any]) -> str:
    state = str(row["state"]).replace("_", "-")
    processes, seeing = row.get("processes", 0), len(row.get("state_at", ()))
    if row["state"] != "closed" and seeing < processes:
        state = f"{state} in {seeing} of {processes}"
    if row.get("stopped"):
        state = f"stopped ({row['stopped']})"
    if row["cause"] not in (None, "route"):
        state = f"{state} ({row['cause']})"
    return f"{state}, {row['wait_s']:g} s" if row["wait_s"] else state


def _error(error: dict[str, Any]) -> str:
    status = f" {error['http_status']}" if error["http_status"] else ""
    return f"{error['age_s']:.0f} s ago: {error['reason']}{status} {error['message']}".strip()

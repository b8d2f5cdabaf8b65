"""`zurelay log`: what was asked, who answered, what it cost."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zurelay.cli.auto import show as show_choice
from zurelay.cli.contents import show as show_content
from zurelay.cli.options import DATA, Config, Data, Json, example, opened
from zurelay.cli.terminal import Failed, print_json, print_pairs, print_table, seconds
from zurelay.meter.record import STATUSES

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from zurelay.meter.record import RequestRecord


def add_to(app: typer.Typer) -> None:
    """Make the command part of the program."""
    app.command("log", epilog=example("log --status error --limit 50"))(log)


def log(
    request: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]", help="One request: everything about it.", show_default=False
        ),
    ] = None,
    config: Config = None,
    data: Data = DATA,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, max=10_000, help="How many.")
    ] = 20,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="M", help="Only of this model, asked or answering.", show_default=False
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Only of this key: id or name.", show_default=False),
    ] = None,
    status: Annotated[
        str | None,
        typer.Option(
            metavar="S",
            help="Only ok, error, client_closed, interrupted or running.",
            show_default=False,
        ),
    ] = None,
    user: Annotated[
        str | None, typer.Option(metavar="U", help="Only of this end user.", show_default=False)
    ] = None,
    content: Annotated[
        bool,
        typer.Option("--content", help="Of one request: its messages, where they are stored."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Show the request log, newest first, or one request."""
    if content:
        if request is None:
            raise typer.BadParameter("name a request", param_hint="'--content'")
        show_content(request, config, data, as_json=as_json)
        return
    if status is not None and status not in STATUSES:
        raise typer.BadParameter(f"write one of {', '.join(STATUSES)}", param_hint="'--status'")
    from zurelay.store.requests import Filter, get_request, list_requests

    with opened(config, data) as store, store.read() as connection:
        names = _key_names(connection)
        if request is not None:
            found = get_request(connection, request, None)
            if found is None:
                raise Failed(f"no request has the id {request!r}")
            _show(found, names, as_json=as_json)
            return
        wanted = Filter(
            key=None if key is None else _key_id(connection, key),
            model=model,
            status=status,
            user=user,
        )
        records = list_requests(connection, wanted, limit)
    if as_json:
        print_json([_view(record) for record in records])
        return
    print_table(
        ("time", "id", "status", "model", "key", "in", "out", "USD", "first s", "total s"),
        [_row(record, names) for record in records],
        right=("in", "out", "USD", "first s", "total s"),
        spare=("first s", "key", "in", "out", "total s"),
        whole=("time", "id"),
        empty="no requests in the log",
    )


def _row(record: "RequestRecord", names: dict[str, str]) -> tuple[str, ...]:
    from zurelay.catalogue.money import format_usd

    usage = record.usage
    model = record.model
    if record.answered_by not in (None, record.model):
        model = f"{record.model} > {record.answered_by}"
    return (
        _time(record.created)[5:],  # the year is in --json
        record.id,
        _status(record),
        model,
        names.get(record.key, record.key),
        "" if usage is None else str(usage.prompt),
        "" if usage is None else str(usage.completion),
        format_usd(record.cost) + ("~" if record.cost_estimated else ""),
        seconds(record.first_token_ms),
        seconds(record.duration_ms),
    )


def _status(record: "RequestRecord") -> str:
    if record.status != "error":
        return record.status
    return f"error {record.error or record.http_status}"


def _show(record: "RequestRecord", names: dict[str, str], *, as_json: bool) -> None:
    view = _view(record)
    if as_json:
        print_json(view)
        return
    view["created"] = _time(record.created)
    view["key"] = f"{names.get(record.key, '')} {record.key}".strip()
    attempts = view.pop("attempts")
    usage = view.pop("usage")
    auto = view.pop("auto", None)
    print_pairs((name, _text(value)) for name, value in view.items() if value not in (None, [], {}))
    if usage is not None:
        print_pairs([("tokens in", str(usage["prompt_tokens"]))])
        print_pairs([("tokens out", str(usage["completion_tokens"]))])
    if auto is not None:
        show_choice(auto)
    if attempts:
        print_table(
            (
                "route",
                "provider:model",
                "status",
                "reason",
                "http",
                "from s",
                "to s",
                "lost USD",
                "detail",
            ),
            [
                (
                    str(one["route"]),
                    one["route_id"],
                    one["status"],
                    one["reason"] or "",
                    _text(one["http_status"]),
                    seconds(one["start_ms"]),
                    seconds(one["end_ms"]),
                    "" if one["cost_usd"] == "0" else f"{one['cost_usd']}~",
                    one["detail"] or "",
                )
                for one in attempts
            ],
            right=("from s", "to s", "lost USD"),
            spare=("lost USD",),
        )


def _view(record: "RequestRecord") -> dict[str, Any]:
    from zurelay.meter.view import record_view

    return record_view(record, operator=True)


def _key_names(connection: "Connection") -> dict[str, str]:
    from zurelay.store.keys import list_keys

    return {key.id: key.name for key in list_keys(connection)}


def _key_id(connection: "Connection", wanted: str) -> str:
    from zurelay.store.keys import find_key

    return find_key(connection, wanted).id


def _text(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(str, value))
        case dict():
            return ", ".join(f"{name}={item}" for name, item in value.items())
        case _:
            return str(value)


def _time(created: float) -> str:
    """UTC, to the second."""
    return datetime.fromtimestamp(created, UTC).strftime("%Y-%m-%d %H:%M:%S")

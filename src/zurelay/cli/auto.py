"""`zurelay auto`: what the smart choice would choose for a request, and why. Sends nothing."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zurelay.cli.options import DATA, Config, Data, Json, example, opened, settings
from zurelay.cli.terminal import Failed, print_json, print_pairs, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zurelay.access.keys import Key
    from zurelay.formats.base import Inbound
    from zurelay.plan.auto.pool import Barred
    from zurelay.plan.planner import Plan

app = typer.Typer(name="auto", help="Look into the smart choice.", no_args_is_help=True)

_MOST_BYTES = 64 * 1024 * 1024
_FRONTS = {"chat": "openai_chat", "messages": "anthropic", "responses": "openai_responses"}


@app.callback()
def _group() -> None:
    """Look into the smart choice of a model."""


@app.command("explain", epilog=example("auto explain request.json"))
def explain(
    file: Annotated[
        str,
        typer.Argument(
            metavar="[FILE|-]", help="The body of a request as JSON; - or nothing for stdin."
        ),
    ] = "-",
    config: Config = None,
    data: Data = DATA,
    endpoint: Annotated[
        str | None,
        typer.Option(
            "--endpoint",
            metavar="E",
            help="Whose body it is: chat, messages or responses; by its fields if left out.",
            show_default=False,
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="ID", help="For this key: id or name.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print which models would be asked for a request, in order, and why. Sends nothing.

    The body's `model` does not matter. Prices are those of this moment; what a running gateway
    knows of its routes' health is not looked at.
    """
    from zurelay.chat.problems import Refused
    from zurelay.cli.models import routing_table

    if endpoint is not None and endpoint not in _FRONTS:
        raise typer.BadParameter("write chat, messages or responses", param_hint="'--endpoint'")
    body = _body(file)
    table = routing_table(settings(config, data))
    if table.auto is None:
        raise AssertionError("every configuration has a smart choice")
    caller = _key(config, data, key)
    try:
        inbound = _inbound(body, table.auto.id, endpoint)
        plan, barred = _explained(table, inbound, caller)
    except Refused as refused:
        raise Failed(refused.problem.message) from None
    view = _view(plan, barred)
    if as_json:
        print_json(view)
        return
    show(view)
    _show_barred(view["ruled_out"])


def show(auto: "Mapping[str, Any]") -> None:
    """Print a choice as a request-log entry has it."""
    features = auto["features"]
    print_pairs(
        [
            ("chosen because", auto["reason"]),
            ("tier asked for", auto["tier"]),
            ("seen", ", ".join(f"{name} {_text(value)}" for name, value in features.items())),
        ]
    )
    efforts = any("effort" in one for one in auto["ranking"])
    print_table(
        ("rank", "model", "tier", "expected USD", *(("effort",) if efforts else ())),
        [
            (
                str(place),
                one["model"],
                one["tier"],
                one["expected_cost_usd"] or "unknown",
                *((one["effort"] or "",) if efforts else ()),
            )
            for place, one in enumerate(auto["ranking"], start=1)
        ],
        right=("rank", "expected USD"),
        whole=("model",),
    )


def _show_barred(barred: "Mapping[str, Sequence[str]]") -> None:
    if barred:
        print_table(
            ("ruled out", "models"),
            [(why, ", ".join(models)) for why, models in barred.items()],
        )


def _body(file: str) -> bytes:
    if file != "-":
        return Path(file).read_bytes()
    return sys.stdin.buffer.read(_MOST_BYTES)


def _inbound(body: bytes, model: str, endpoint: str | None) -> "Inbound":
    """The request, whoever's format it is in, as if it had left the model to the gateway."""
    import msgspec

    from zurelay.formats.registry import FRONTS

    try:
        fields = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except msgspec.DecodeError as error:
        raise Failed(f"this is no JSON object: {error}") from None
    fields["model"] = msgspec.Raw(msgspec.json.encode(model))
    if endpoint is None:
        endpoint = _guessed(fields)
    front = next(one for one in FRONTS if one.name == _FRONTS[endpoint])
    return front.read(msgspec.json.encode(fields))


def _guessed(fields: "Mapping[str, object]") -> str:
    if "input" in fields:
        return "responses"
    messages = {"system", "output_config", "thinking", "stop_sequences"}
    return "chat" if messages.isdisjoint(fields) else "messages"


def _key(config: Path | None, data: Path, wanted: str | None) -> "Key":
    """The key of that id or name; one that may use everything where none is named."""
    if wanted is None:
        from zurelay.access.keys import Key

        return Key("", "", "", "", b"", "", 0)
    from zurelay.store.keys import find_key

    with opened(config, data) as store, store.read() as connection:
        return find_key(connection, wanted)


def _explained(table: Any, inbound: "Inbound", key: "Key") -> "tuple[Plan, tuple[Barred, ...]]":
    from zurelay.plan.affinity import Affinity
    from zurelay.plan.auto.choose import Caller
    from zurelay.plan.health import Health
    from zurelay.plan.planner import choice_of, make_plan

    health, affinity, now = Health(), Affinity(), time.time()
    plan = make_plan(
        table,
        inbound,
        may_use=key.may_use,
        health=health,
        affinity=affinity,
        account=key.account,
        now=0.0,
        draw=lambda: 0.5,
        key=key,
        wall=lambda: now,
    )
    choice = choice_of(
        table,
        table.auto,
        inbound,
        Caller(key.account, key.may_use, key),
        health=health,
        affinity=affinity,
        now=0.0,
        at=now,
    )
    return plan, choice.barred


def _view(plan: "Plan", barred: "Sequence[Barred]") -> dict[str, Any]:
    from zurelay.meter.view import auto_view

    if plan.auto is None:
        raise AssertionError("a smart choice was asked for")
    view = auto_view(plan.auto)
    efforts: dict[str, str | None] = {}
    for candidate in plan.candidates:
        efforts.setdefault(candidate.public_model, candidate.effort_shown)
    for one in view["ranking"]:
        one["effort"] = efforts.get(one["model"])
    ruled_out: dict[str, list[str]] = {}
    for each in barred:
        ruled_out.setdefault(each.why, []).append(each.model)
    return {**view, "ruled_out": ruled_out}


def _text(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case list():
            return "/".join(map(str, value))
        case _:
            return str(value)

"""Messages of a request on a terminal, where they are stored."""

import sys
from pathlib import Path

from zurelay.cli.desk import at_desk
from zurelay.cli.terminal import Failed, clean_lines, note, print_json, say

_WHY = {
    "off": "its key has no messages stored; see: zurelay keys set KEY --store-days N",
    "expired": "they were deleted when their time was over",
    "missing": "there are none: deleted, made before its key had them stored, or dropped",
    "unreadable": "they were encrypted with another key; see [log] content_previous_keys",
}


def show(request: str, config: Path | None, data: Path, *, as_json: bool) -> None:
    """Print what was asked and answered; stands in the audit log."""
    from msgspec import to_builtins

    from zurelay.office.contents import read

    with at_desk(config, data) as (desk, actor):
        found = read(desk, actor, request)
    if as_json:
        print_json(to_builtins(found))
        return
    if found.state != "stored":
        raise Failed(f"no messages of {request}: {_WHY[found.state]}")
    for turn in found.messages:
        for piece in turn.pieces:
            kind = "" if piece.kind == "text" else f" {piece.kind}"
            name = f" {piece.name}" if piece.name else ""
            say(f"[{turn.role}{kind}{name}]")
            sys.stdout.write(f"{clean_lines(piece.text)}\n\n")
    if not found.messages:
        sys.stdout.write(clean_lines(f"{found.body}\n{found.answer}\n"))
    if found.body_cut or found.answer_cut:
        note("the end is missing: it was too long to be stored whole")
    if not found.ended:
        note("the answer was not sent to its end")

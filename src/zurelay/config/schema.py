"""What a setting is: a dataclass field that says how it is read, what it does and its default.

Knows no setting; those are in `settings`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from zurelay.config import values as v

T = TypeVar("T")
REQUIRED: Any = object()


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of the file.

    Attributes:
        name: the key.
        type: how its value is read.
        doc: what it does, one or two sentences.
        default: the value when it is left out; `REQUIRED` if it must be there.
        shown: how the documentation writes the default where the value alone says too little.
        restart: a change takes effect only at the next start.
    """

    name: str
    type: v.Type
    doc: str
    default: object
    shown: str
    restart: bool


def setting(kind: v.Type, default: T, doc: str, *, shown: str = "", restart: bool = False) -> T:
    """A dataclass field that is a setting. Secrets stay out of the repr."""
    meta = {"type": kind, "doc": doc, "shown": shown, "restart": restart, "default": default}
    if default is REQUIRED:
        required: T = field(metadata=meta)
        return required
    if isinstance(default, Mapping):
        return field(default_factory=lambda: default, metadata=meta, repr=not kind.secret)
    return field(default=default, metadata=meta, repr=not kind.secret)


def settings_of(table: type) -> tuple[Setting, ...]:
    """The settings of a table, in order."""
    return tuple(
        Setting(
            one.name,
            one.metadata["type"],
            one.metadata["doc"],
            one.metadata["default"],
            one.metadata["shown"],
            one.metadata["restart"],
        )
        for one in fields(table)
    )

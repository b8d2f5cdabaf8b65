"""What an endpoint of the admin API is, for its call, its checks and its description.

Knows none of them.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, TypeVar

from msgspec import Meta, Struct

from zurelay.admin.parts import AdminParts
from zurelay.office.pages import MOST, USUAL, Listed, Page
from zurelay.office.rights import Actor, Right

T = TypeVar("T")

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


@dataclass(frozen=True, slots=True)
class Call:
    """One call.

    Attributes:
        path: values of the placeholders in the endpoint's path.
        query: an instance of its `query`.
        body: an instance of its `body`, if it has one.
        gathered: what its `gather` gave.
    """

    parts: AdminParts
    actor: Actor
    path: Mapping[str, str]
    query: Any
    body: Any
    gathered: Any = None


@dataclass(frozen=True, slots=True)
class File:
    """An answer in pieces, as they come."""

    pieces: Iterator[str]
    media_type: str
    name: str


class NoQuery(Struct, forbid_unknown_fields=True):
    """Nothing."""


class Nothing(Struct):
    """It was done, and there is nothing to tell."""


class ListView(Struct, Generic[T]):
    """A list. `next_cursor` as `cursor` of the next call gives the next page; null: no more."""

    data: list[T]
    next_cursor: str | None = None
    object: Literal["list"] = "list"


class PageQuery(Struct, forbid_unknown_fields=True):
    """Which part of a list."""

    limit: Annotated[int, Meta(ge=1, le=MOST, description="How many at most.")] = USUAL
    cursor: (
        Annotated[str, Meta(max_length=250, description="`next_cursor` of the page before.")] | None
    ) = None

    @property
    def page(self) -> Page:
        """As the office takes it."""
        return Page(self.limit, self.cursor)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint.

    Attributes:
        path: below the API's own, with placeholders such as `{account}`.
        summary: one line that says what it does.
        right: what a caller needs, for the description; the office checks it.
        call: does it, in a thread; `on_loop` where it must run on the event loop.
        gather: reads on the event loop, before `call`, what can only be read there.
        answer: the type of what it gives; None for files.
        query: fields of the query; `body` of the JSON body.
        media_types: of files.
    """

    method: Method
    path: str
    name: str
    summary: str
    right: Right | None
    call: Callable[[Call], object]
    answer: Any = Nothing
    query: type[Struct] = NoQuery
    body: type[Struct] | None = None
    status: int = 200
    on_loop: bool = False
    gather: Callable[[AdminParts], object] | None = None
    media_types: tuple[str, ...] = ("application/json",)


def shown(found: Listed[T]) -> "ListView[T]":
    """A page of the office as it is shown."""
    return ListView(found.data, found.next_cursor)


def match(path: str, template: str) -> dict[str, str] | None:
    """Values of the template's placeholders in a path; None if it is another path."""
    parts, wanted = path.split("/"), template.split("/")
    if len(parts) != len(wanted):
        return None
    values: dict[str, str] = {}
    for part, want in zip(parts, wanted, strict=True):
        if want.startswith("{"):
            if not part:
                return None
            values[want[1:-1]] = part
        elif part != want:
            return None
    return values

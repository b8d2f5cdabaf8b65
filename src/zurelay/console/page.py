"""What a page of the console is: where it lies, who may open it, and what it is told and gives.

A page module has views, each a function of a `Visit` that gives a `Reply`, and a tuple `PAGES`.
Views run in threads, so they call the office straight away. Knows no page.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from zurelay.access.tokens import Role
from zurelay.chat.problems import Refused, invalid_value
from zurelay.console.languages import Language
from zurelay.console.parts import ConsoleParts
from zurelay.office.rights import Actor
from zurelay.office.sessions import Visitor, form_token

T = TypeVar("T")

Who = Literal["nobody"] | Role
"""`nobody` is not signed in."""

ANYBODY: Final[frozenset[Who]] = frozenset({"nobody", "owner", "admin", "member", "read-only"})
SIGNED_IN: Final[frozenset[Who]] = frozenset({"owner", "admin", "member", "read-only"})
CHANGERS: Final[frozenset[Who]] = frozenset({"owner", "admin", "member"})
OPERATORS: Final[frozenset[Who]] = frozenset({"owner", "admin"})
OWNERS: Final[frozenset[Who]] = frozenset({"owner"})

_NO_DIGIT = re.compile(r"[^0-9]")
_GROUPED = re.compile(r"[0-9]{1,3}(?:[.,'\u2019\u00a0\u202f ][0-9]{3})+")
"""Thousands as people set them apart: 200.000 is one, 1.5 is none."""
_ONE_OR_A_THOUSAND = re.compile(r"[1-9][0-9]{0,2},[0-9]{3}")


class Form:
    """What a form sent, or what one is to be filled with; and what is wrong with its fields."""

    def __init__(self, fields: Mapping[str, list[str]] | None = None) -> None:
        self._fields = dict(fields or {})
        self.faults: dict[str, str] = {}

    @classmethod
    def of(cls, **fields: object) -> "Form":
        """A form filled with values; None is left out."""
        return cls({name: [str(value)] for name, value in fields.items() if value is not None})

    def get(self, name: str, default: str = "") -> str:
        """A field's text without blanks around it."""
        values = self._fields.get(name)
        return values[0].strip() if values else default

    def all(self, name: str) -> list[str]:
        """Every value of a field that may come several times."""
        return [value.strip() for value in self._fields.get(name, ()) if value.strip()]

    def __contains__(self, name: str) -> bool:
        return name in self._fields

    def decimal(self, name: str) -> str:
        """A field's number as the office takes it: `1,25` is 1.25."""
        return self.get(name).replace(",", ".")

    def dollars(self, name: str) -> str:
        """A field's amount as the office takes it: `$12,50` is 12.50.

        `1,000` stays, which is none: for some it is a thousand, for others one.
        """
        given = self.get(name).removeprefix("$").strip()
        return given if _ONE_OR_A_THOUSAND.fullmatch(given) else given.replace(",", ".")

    def whole(self, name: str) -> str:
        """A field's whole number without what sets thousands apart: `60.000` is 60000."""
        given = self.get(name)
        return _NO_DIGIT.sub("", given) if _GROUPED.fullmatch(given) else given

    @property
    def names(self) -> frozenset[str]:
        """What its fields are called."""
        return frozenset(self._fields)

    def optional(self, name: str) -> str | None:
        """A field's text; None where it was left empty."""
        return self.get(name) or None

    def failed(self, refused: Refused, **fields: str) -> "Form":
        """Keep what was refused beside its field; `fields` says which one shows which `param`."""
        param = refused.problem.param or ""
        said = refused.problem.message.removeprefix(f"{param}: ")
        plain = param.partition("[")[0]
        self.faults[fields.get(plain.replace(".", "_"), plain)] = said
        return self

    def explain(self, visit: "Visit", words: Mapping[str, str]) -> "Form":
        """Say in the person's language what fields must be; `words` are marked with `N_`."""
        for name in self.faults:
            if name in words:
                self.faults[name] = visit.gettext(words[name])
        return self


def read(kind: type[T], values: Mapping[str, Any]) -> T:
    """Values of a form as one of the office's structs; numbers may come as text.

    Raises:
        Refused: 400, `param` names the field.
    """
    try:
        found = msgspec.convert(dict(values), kind, strict=False)
    except msgspec.ValidationError as error:
        said, _, place = str(error).partition(" - at `$.")
        raise Refused(invalid_value(place.rstrip("`"), said)) from None
    for name, value in values.items():  # who writes the word null leaves nothing out
        if value is not None and getattr(found, name, value) is None:
            raise Refused(invalid_value(name, f"{name}: write a value, or leave it empty."))
    return found


@dataclass(slots=True)
class Visit:
    """One call of a page.

    Attributes:
        path: the placeholders of the page's path.
        visitor: who is signed in; views of pages that need that use `actor`.
        actor: who acts, with rights for where they look.
        account: id of the account that is looked at; None for all of them.
        gathered: what the page's `gather` gave.
        cookies: to be set; None deletes one.
    """

    parts: ConsoleParts
    request: Request
    language: Language
    theme: str
    path: Mapping[str, str]
    query: Mapping[str, str]
    form: Form
    secret: str
    visitor: Visitor | None = None
    account: str | None = None
    gathered: Any = None
    notice: tuple[str, str] | None = None
    cookies: dict[str, str | None] = field(default_factory=dict)

    @property
    def actor(self) -> Actor:
        """Who acts. Only for pages that nobody opens without being signed in."""
        if self.visitor is None:
            raise AssertionError("a view that acts belongs on a page for people who are signed in")
        return self.visitor.actor(self.account)

    @property
    def operates(self) -> bool:
        """Whether they run the gateway, whichever account they look at."""
        return self.actor.account is None

    @property
    def start(self) -> int:
        """How many rows of a list come before this page's, as `from` in the query says."""
        text = self.query.get("from", "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0

    @property
    def token(self) -> str:
        """What its forms must send along."""
        return form_token(self.secret)

    @property
    def from_htmx(self) -> bool:
        """Whether a part of the page is enough."""
        headers = self.request.headers
        return headers.get("hx-request") == "true" and headers.get("hx-boosted") != "true"

    @property
    def agent(self) -> str:
        """What the browser calls itself."""
        return self.request.headers.get("user-agent", "")

    def gettext(self, text: str, **values: object) -> str:
        """The text in the person's language, `%(name)s` filled in."""
        found = self.language.gettext(text)
        return found % values if values else found

    def ngettext(self, one: str, many: str, num: int, **values: object) -> str:
        """The text for that many; `%(num)s` and others filled in."""
        return self.language.ngettext(one, many, num) % (values | {"num": num})


@dataclass(frozen=True, slots=True)
class Html:
    """A page, or for htmx a part of it: a template and what it is given."""

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200


@dataclass(frozen=True, slots=True)
class Redirect:
    """Another page of the console, and what it is to say above: kind (good, bad) and text."""

    to: str
    notice: str = ""
    kind: str = "good"


Reply = Html | Redirect | Response


@dataclass(frozen=True, slots=True)
class Page:
    """A page or action.

    Attributes:
        path: with placeholders such as `{key}`.
        roles: who may; the office checks what it is asked all the same.
        view: gives the answer, in a thread.
        gather: run on the event loop before, for what may be read only there.
        stream: instead of a view: a coroutine on the event loop that gives its own answer.
        most_body: bytes of body it takes.
    """

    method: Literal["GET", "POST"]
    path: str
    roles: frozenset[Who]
    view: Callable[[Visit], Reply] | None = None
    gather: Callable[[ConsoleParts], object] | None = None
    stream: Callable[[Visit], Awaitable[Response]] | None = None
    most_body: int = 256 * 1024

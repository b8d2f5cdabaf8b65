"""Templates become HTML: what every page has around it, and what its template may use.

Everything is escaped unless a template says otherwise; none does for what people or models wrote.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from zurelay import __version__
from zurelay.access.accounts import Account
from zurelay.console import assets, navigation
from zurelay.console.languages import NAMES, Language
from zurelay.console.page import Html, Visit
from zurelay.office.sessions import accounts_of
from zurelay.office.support import count_unread

FOLDER: Final = Path(__file__).parent / "templates"
SUPPORT: Final = "/console/support"
"""The place in the menu that shows how much was not read yet."""
MOST_ACCOUNTS: Final = 50
"""How many the switcher lists."""


def templates(*folders: Path) -> Environment:
    """Templates of these folders, the first that has one; everything in them is escaped."""
    made = Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    vars(made)["newstyle_gettext"] = True
    made.globals["languages"] = NAMES
    return made


@cache
def environment() -> Environment:
    """The console's templates."""
    made = templates(FOLDER)
    made.globals.update(asset=assets.url, version=__version__)
    return made


def render(visit: Visit, reply: Html, served: Sequence[str] = ()) -> str:
    """A page in the visit's language and theme."""
    template = environment().get_template(reply.template)
    return template.render({**_around(visit, served), **reply.values})


def _around(visit: Visit, served: Sequence[str]) -> Mapping[str, Any]:
    language = visit.language
    path = visit.request.url.path
    around: dict[str, Any] = {
        **texts(language),
        "say": language,
        "lang": language.code,
        "theme": visit.theme,
        "brand": visit.parts.brand(),
        "base_url": visit.parts.base_url(),
        "support_email": visit.parts.support_email(),
        "now": visit.parts.wall(),
        "token": visit.token,
        "notice": visit.notice,
        "path": path,
        "visitor": visit.visitor,
        "account": visit.account,
        "part": visit.from_htmx,
        "form": visit.form,
        "sections": [],
        "accounts": [],
        "unread": {},
        "here": navigation.here(path),
        "oidc": visit.parts.oidc.provider(),
    }
    if visit.visitor is not None:
        actor = visit.actor
        around["actor"] = actor
        around["may"] = actor.may
        around["sections"] = navigation.shown(served, actor.role)
        if not visit.from_htmx:
            around["accounts"] = _accounts(visit)
            around["unread"] = {SUPPORT: count_unread(visit.parts.desk, actor)}
    return around


def _accounts(visit: Visit) -> list[Account]:
    """What the switcher offers, the chosen one first."""
    if visit.visitor is None:
        return []
    known = accounts_of(visit.parts.desk, visit.visitor)
    known.sort(key=lambda one: one.id != visit.account)
    return known[:MOST_ACCOUNTS]


def texts(language: Language) -> Mapping[str, Callable[..., Markup]]:
    """Words for templates. They may hold tags; what is filled in is escaped. `%` is `%%` there."""

    def gettext(text: str, **values: object) -> Markup:
        return Markup(language.gettext(text)) % values  # noqa: S704 - our own words

    def ngettext(one: str, many: str, num: int, **values: object) -> Markup:
        found = Markup(language.ngettext(one, many, num))  # noqa: S704 - likewise
        return found % (values | {"num": language.number(num)})

    return {"gettext": gettext, "ngettext": ngettext, "_": gettext}

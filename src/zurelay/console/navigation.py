"""Where one can go in the console: sections and their pages, shown to whoever may open them.

A page appears once it is served. Knows no page's content.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from zurelay.console.languages import N_
from zurelay.console.page import OPERATORS, SIGNED_IN, Who


@dataclass(frozen=True, slots=True)
class Place:
    """An entry. `icon` is a name in `icons.html`."""

    path: str
    label: str
    icon: str
    roles: frozenset[Who]


@dataclass(frozen=True, slots=True)
class Section:
    """Entries under a heading; the first section has none."""

    label: str
    places: tuple[Place, ...]


SECTIONS: Final = (
    Section(
        "",
        (
            Place("/console", N_("Overview"), "chart", SIGNED_IN),
            Place("/console/keys", N_("Keys"), "key", SIGNED_IN),
            Place("/console/requests", N_("Requests"), "list", SIGNED_IN),
            Place("/console/models", N_("Models"), "cube", SIGNED_IN),
            Place("/console/playground", N_("Playground"), "play", SIGNED_IN),
            Place("/console/billing", N_("Billing"), "card", SIGNED_IN),
            Place("/console/support", N_("Support"), "chat", SIGNED_IN),
        ),
    ),
    Section(
        N_("Operation"),
        (
            Place("/console/routes", N_("Routes"), "route", OPERATORS),
            Place("/console/accounts", N_("Accounts"), "building", OPERATORS),
            Place("/console/members", N_("Members"), "people", SIGNED_IN),
            Place("/console/prices", N_("Prices"), "tag", OPERATORS),
            Place("/console/settings", N_("Settings"), "sliders", OPERATORS),
            Place("/console/audit", N_("Audit log"), "shield", SIGNED_IN),
        ),
    ),
)


def shown(served: Collection[str], who: Who) -> list[Section]:
    """The sections for somebody, with the pages that are served."""
    sections = []
    for section in SECTIONS:
        places = tuple(
            place for place in section.places if place.path in served and who in place.roles
        )
        if places:
            sections.append(Section(section.label, places))
    return sections


def here(path: str) -> str:
    """The path of the entry that a page belongs to; empty for none."""
    known = [place.path for section in SECTIONS for place in section.places]
    within = [one for one in known if path == one or path.startswith(f"{one}/")]
    if "/console" in within and path != "/console":
        within.remove("/console")
    return max(within, key=len, default="")

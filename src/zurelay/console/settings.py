"""Settings: those in force, each with where it comes from. They are changed in the file."""

from itertools import groupby
from typing import Final

from zurelay.console.languages import N_
from zurelay.console.page import OPERATORS, Form, Html, Page, Reply, Visit
from zurelay.office import notices

HOME: Final = "/console/settings"
ORIGINS: Final = {
    "file": N_("file"),
    "environment": N_("environment"),
    "default": N_("default"),
}


def index(visit: Visit) -> Reply:
    """Settings by table; those that were chosen, or all."""
    # They are the whole gateway's: nothing for somebody who acts in one account alone.
    visit.actor.needs("providers.read")
    everything = visit.query.get("show") == "all"
    sought = visit.query.get("q", "").lower()
    found = [
        one
        for one in visit.parts.settings()
        if (everything or sought or one.origin != "default")
        and sought in f"{one.table}.{one.key} {one.doc}".lower()
    ]
    return Html(
        "settings.html",
        {
            "form": Form.of(q=visit.query.get("q", "")),
            "tables": [
                (table, list(group)) for table, group in groupby(found, lambda one: one.table)
            ],
            "everything": everything,
            "sought": sought,
            "origins": ORIGINS,
            "unsent": notices.unsent(visit.parts.desk, visit.actor),
        },
    )


PAGES = (Page("GET", HOME, OPERATORS, index),)

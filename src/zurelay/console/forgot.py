"""The door for who forgot their password: a link by mail, or whom to ask where no mail is sent.

What it answers never tells whether anybody has an address.
"""

import time
from typing import Final

from zurelay.console.entry import asker, too_many
from zurelay.console.page import ANYBODY, Html, Page, Reply, Visit
from zurelay.office.links import forgot

HOME: Final = "/console/forgot"

COUNTED: Final = "forgot:"
"""Such questions are counted apart: they keep nobody from signing in."""

FLOOR_S: Final = 0.3
"""What an answer takes at least, so that its time does not tell whether a mail was written."""


def ask_page(visit: Visit) -> Reply:
    """Asks for the address."""
    return _page(visit)


def ask(visit: Visit) -> Reply:
    """Mails a link, where there is somebody to mail it to."""
    began = time.monotonic()
    if visit.parts.desk.letters() is None:
        return _page(visit)
    email, address, throttle = visit.form.get("email"), asker(visit), visit.parts.throttle
    if "@" not in email:
        visit.form.faults["email"] = visit.gettext("Write an e-mail address.")
        return _page(visit, status=400)
    wait = throttle.wait(email, address, COUNTED)
    if wait:
        visit.form.faults["email"] = too_many(visit, wait)
        return _page(visit, status=429)
    throttle.failed(email, address, COUNTED)
    forgot(visit.parts.desk, email, visit.language.code)
    time.sleep(max(0.0, FLOOR_S - (time.monotonic() - began)))
    return _page(visit, asked=True)


# Our own.


def _page(visit: Visit, *, asked: bool = False, status: int = 200) -> Reply:
    values = {"mails": visit.parts.desk.letters() is not None, "asked": asked}
    return Html("forgot.html", values, status)


PAGES = (
    Page("GET", HOME, ANYBODY, ask_page),
    Page("POST", HOME, ANYBODY, ask),
)

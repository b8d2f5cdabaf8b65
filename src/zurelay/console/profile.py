"""What people choose for themselves: name, address, password, language, theme, account."""

from typing import Final

from zurelay.chat.problems import Refused
from zurelay.console import cookies
from zurelay.console.browsers import browser_and_system
from zurelay.console.languages import N_, NAMES
from zurelay.console.page import ANYBODY, SIGNED_IN, Form, Html, Page, Redirect, Reply, Visit
from zurelay.office import links, sessions
from zurelay.office.passwords import LONGEST, SHORTEST
from zurelay.office.sessions import Visitor

_HERE = "/console/profile"
FAULTS: Final = {
    "name": N_("Write a name."),
    "email": N_("Write an address such as ann@example.com."),
}
TAKEN: Final = {"email": N_("Somebody else has that address.")}


def profile(visit: Visit) -> Reply:
    """The page."""
    return _page(visit, _person(_visitor(visit)), Form())


def change(visit: Visit) -> Reply:
    """Changes name and address; with them the password of whoever has none yet.

    The first owner has neither and fills one form: two would let them set a password alone, which
    nobody can sign in with.
    """
    visitor, form = _visitor(visit), visit.form
    new = "" if visitor.person.password else form.get("new")
    if new and not _password_fits(visit, new):
        return _page(visit, form, form, 400)
    try:
        links.change_profile(
            visit.parts.desk,
            visitor,
            name=form.get("name"),
            email=form.get("email"),
        )
    except Refused as refused:
        if refused.problem.status not in (400, 409):
            raise
        words = TAKEN if refused.problem.status == 409 else FAULTS
        form.failed(refused).explain(visit, words)
        return _page(visit, form, form, 400)
    if new:
        begun = sessions.set_password(visit.parts.desk, visitor, "", new, visit.agent)
        visit.cookies[cookies.SESSION] = begun.text
    return Redirect(_HERE, visit.gettext("Saved."))


def password(visit: Visit) -> Reply:
    """Changes the password, which ends every session but this one."""
    visitor, form = _visitor(visit), visit.form
    if _password_fits(visit, form.get("new")):
        try:
            begun = sessions.set_password(
                visit.parts.desk, visitor, form.get("old"), form.get("new"), visit.agent
            )
            visit.cookies[cookies.SESSION] = begun.text
            said = visit.gettext("Your password is changed. You are signed out everywhere else.")
            return Redirect(_HERE, said)
        except Refused as refused:
            form.failed(refused)
            form.faults["old"] = visit.gettext("This is not your password.")
    return _page(visit, _person(visitor), form, 400)


def end_others(visit: Visit) -> Reply:
    """Signs out everywhere else."""
    sessions.sign_out_elsewhere(visit.parts.desk, _visitor(visit))
    return Redirect(_HERE, visit.gettext("You are signed out everywhere else."))


def prefer(visit: Visit) -> Reply:
    """Chooses language or theme, also for people who are not signed in."""
    form = visit.form
    if form.get("language") in NAMES:
        visit.cookies[cookies.LANGUAGE] = form.get("language")
        if visit.visitor is not None:
            links.set_language(visit.parts.desk, visit.visitor, form.get("language"))
    if form.get("theme") in cookies.THEMES:
        visit.cookies[cookies.THEME] = form.get("theme")
    return Redirect(_back(visit))


def look_at(visit: Visit) -> Reply:
    """Chooses the account that is looked at; none means all, for whoever runs the gateway."""
    visit.cookies[cookies.ACCOUNT] = visit.form.get("account") or None
    return Redirect(_back(visit))


def _page(visit: Visit, person: Form, secret: Form, status: int = 200) -> Reply:
    visitor = _visitor(visit)
    return Html(
        "profile.html",
        {
            "person": person,
            "secret": secret,
            "sessions": [
                (one, _browser(visit, one.agent))
                for one in sessions.sessions_of(visit.parts.desk, visitor)
            ],
            "shortest": SHORTEST,
            "longest": LONGEST,
        },
        status,
    )


def _browser(visit: Visit, agent: str) -> str:
    """What people know it by; else the beginning of what it calls itself."""
    known = browser_and_system(agent)
    if known is None:
        return agent[:80]
    browser, system = known
    return visit.gettext("%(browser)s on %(system)s", browser=browser, system=system)


def _person(visitor: Visitor) -> Form:
    """Name and address as they are."""
    email = "" if visitor.nameless else visitor.person.email
    return Form.of(name=visitor.person.name, email=email)


def _password_fits(visit: Visit, new: str) -> bool:
    """Whether it may become the password and was written the same twice; else it is said where."""
    if new != visit.form.get("again"):
        visit.form.faults["again"] = visit.gettext("This is not the same password.")
    elif not SHORTEST <= len(new) <= LONGEST:
        visit.form.faults["new"] = visit.gettext(
            "Write at least %(shortest)s characters.", shortest=SHORTEST
        )
    return not visit.form.faults


def _visitor(visit: Visit) -> Visitor:
    if visit.visitor is None:
        raise AssertionError("this page is for people who are signed in")
    return visit.visitor


def _back(visit: Visit) -> str:
    """The page a small form stood on."""
    path = visit.form.get("back")
    inside = path == "/console" or path.startswith("/console/")
    plain = path.isascii() and path.isprintable() and "\\" not in path and "//" not in path
    return path if inside and plain and ".." not in path else "/console"


PAGES = (
    Page("GET", "/console/profile", SIGNED_IN, profile),
    Page("POST", "/console/profile", SIGNED_IN, change),
    Page("POST", "/console/profile/password", SIGNED_IN, password),
    Page("POST", "/console/profile/sessions", SIGNED_IN, end_others),
    Page("POST", "/console/preferences", ANYBODY, prefer),
    Page("POST", "/console/account", SIGNED_IN, look_at),
)

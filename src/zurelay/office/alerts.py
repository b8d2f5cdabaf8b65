"""Alerts for people: what was raised, where an account wants its own, and a test of that.

Raises none; `watching` does.
"""

import base64
from collections.abc import Callable
from functools import cache, partial
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct
from sqlalchemy import Connection

from zurelay.letters import alerts as letters
from zurelay.office import values as v
from zurelay.office.accounts import the_account
from zurelay.office.desk import Change, Desk, conflict, wrong
from zurelay.office.names import spender
from zurelay.office.notices import post
from zurelay.office.pages import Listed, Page, listed
from zurelay.office.rights import Actor
from zurelay.office.telling import MOST_EMAILS, of_account, sentence, trial
from zurelay.store import alerts as store
from zurelay.store.alerts import Alert, Target
from zurelay.store.audit import list_audit
from zurelay.store.outbox import Waiting, sent_to
from zurelay.upstream.addresses import is_public
from zurelay.upstream.url import ip_address, parse_url

TRIAL_S: Final = 60
"""How long after a test the next one may be sent."""
MOST_TRIALS: Final = 10
"""Tests of a day: they must not be a way to flood somebody with mail."""

_SECRET_BYTES: Final = 24
_PORTS: Final = (80, 443)
_LONGEST_URL: Final = 2000

Emails = Annotated[
    list[v.Email],
    Meta(max_length=MOST_EMAILS, description="Addresses; an empty list: nobody gets a mail."),
]
Webhook = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=_LONGEST_URL,
        description="An http or https URL on the public internet, at port 80 or 443.",
    ),
]


class TargetForm(Struct, forbid_unknown_fields=True):
    """Where an account wants its alerts; `emails` null: those who keep it get a mail.

    These are its owners and admins; where it has none, its members, the first ten.
    """

    emails: Emails | None = None
    webhook: Webhook | None = None


class TargetView(Struct):
    """Where an account's alerts go.

    `emails` as they were set; null: those who keep it. `mailed`: who gets mails now; nobody while
    the gateway has no server of mail (`mail` false). `webhook` in full for those who may change it.
    """

    account: str
    emails: list[str] | None
    mailed: list[str]
    mail: bool
    webhook: str | None


class TargetSet(Struct):
    """The same after a change; `secret` signs what the webhook gets, and is shown only here."""

    target: TargetView
    secret: str | None


class TrialView(Struct):
    """What was sent: how many mails, and whether to a webhook."""

    mails: int
    webhook: bool


class AlertView(Struct):
    """Something that people are told.

    `account` null: the operators'. `created`: when it was raised; `ended`: when it was over, or
    will be. `says` tells it in a sentence, `data` to programs.
    """

    id: str
    kind: str
    account: str | None
    created: str
    ended: str | None
    open: bool
    says: str
    data: dict[str, Any]


class DeliveryView(Struct):
    """A mail or webhook, and what became of it; `to` of a webhook is its host alone."""

    created: str
    kind: str
    to: str
    subject: str
    state: Literal["sent", "waiting", "failing", "given_up"]
    problem: str | None


def get_target(desk: Desk, actor: Actor, wanted: str) -> TargetView:
    """Where the account of that id or name wants its alerts. Raises Refused: 403, 404."""
    with desk.read(actor, "alerts.read") as connection:
        account = the_account(connection, actor, wanted)
        return _target(desk, connection, actor, account.id)


def set_target(desk: Desk, actor: Actor, wanted: str, form: TargetForm) -> TargetSet:
    """Say where an account wants its alerts; a first webhook gets a secret.

    Raises:
        Refused: 400, 403, 404.
    """
    with desk.change(actor, "alerts.change") as change:
        account = the_account(change.connection, actor, wanted).id
        emails = None if form.emails is None else _emails(form.emails)
        webhook = None if form.webhook is None else _webhook(form.webhook)
        before = store.find_target(change.connection, account)
        kept = None if before is None else before.secret
        secret = None if webhook is None else kept or _secret(desk)
        target = Target(account, emails, webhook, secret, int(change.now))
        store.set_target(change.connection, target)
        told = {"emails": None if emails is None else len(emails), "webhook": _host(webhook)}
        change.did("alerts.change", account, account, told)
        return TargetSet(
            _target(desk, change.connection, actor, account), None if secret == kept else secret
        )


def renew_secret(desk: Desk, actor: Actor, wanted: str) -> TargetSet:
    """Give an account's webhook another secret; the old one signs nothing from now on.

    Raises:
        Refused: 403, 404; 409 where there is no webhook.
    """
    with desk.change(actor, "alerts.change") as change:
        account = the_account(change.connection, actor, wanted).id
        target = store.find_target(change.connection, account)
        if target is None or target.webhook is None:
            raise conflict("This account has no webhook.")
        secret = _secret(desk)
        renewed = Target(account, target.emails, target.webhook, secret, int(change.now))
        store.set_target(change.connection, renewed)
        change.did("alerts.renew_secret", account, account, {"webhook": _host(target.webhook)})
        return TargetSet(_target(desk, change.connection, actor, account), secret)


def send_trial(desk: Desk, actor: Actor, wanted: str) -> TrialView:
    """Send a test to where an account wants its alerts: once a minute, ten times a day at most.

    Raises:
        Refused: 403, 404; 409 where nobody would get it, or too soon after another one.
    """
    with desk.change(actor, "alerts.change") as change:
        account = the_account(change.connection, actor, wanted)
        _not_too_soon(change, account.id)
        to = of_account(change.connection, account.id)
        notices = trial(desk, change.connection, to, account.id, account.name)
        if not notices:
            raise conflict("Nobody would get it: there is no webhook, and no mail can be sent.")
        post(change.connection, desk, notices)
        mails = sum(one.kind == "mail" for one in notices)
        change.did("alerts.test", account.id, account.id, {"mails": mails})
        return TrialView(mails, webhook=len(notices) > mails)


def list_alerts(
    desk: Desk,
    actor: Actor,
    page: Page,
    account: str | None = None,
    *,
    kind: str | None = None,
    holds: bool | None = None,
    language: str = "en",
) -> Listed[AlertView]:
    """Alerts, newest first: of one account (id or name) if given, else of all there are.

    The operators' own are among all for those who may see providers.

    Args:
        desk: where they are.
        actor: who asks.
        page: which part of the list.
        account: whose.
        kind: only those of that kind.
        holds: only those that hold, or that do not any more.
        language: in which they say what they are about.

    Raises:
        Refused: 403, 404.
    """
    with desk.read(actor, "alerts.read") as connection:
        whose = actor.account
        if account is not None:
            whose = the_account(connection, actor, account).id
        elif whose is None and not actor.may("providers.read"):
            whose = store.ACCOUNTS
        return _list(desk, connection, page, whose, kind, holds, language)


def list_deliveries(desk: Desk, actor: Actor, wanted: str, most: int = 10) -> list[DeliveryView]:
    """What was sent lately to where an account's alerts go now, newest first.

    Raises:
        Refused: 403, 404.
    """
    with desk.read(actor, "alerts.read") as connection:
        account = the_account(connection, actor, wanted).id
        to = of_account(connection, account)
        targets = [*to.emails, *filter(None, [to.webhook])]
        return [_delivery(one) for one in sent_to(connection, account, targets, most)]


def list_of_operators(
    desk: Desk, actor: Actor, page: Page, *, holds: bool | None = None, language: str = "en"
) -> Listed[AlertView]:
    """The operators' own alerts, newest first. Raises Refused: 403."""
    with desk.read(actor, "providers.read") as connection:
        return _list(desk, connection, page, store.OPERATORS, None, holds, language)


def count_open(desk: Desk, actor: Actor) -> int:
    """How many of the operators' alerts hold; 0 for those who do not see them."""
    if not actor.may("providers.read"):
        return 0
    with desk.store.read() as connection:
        return sum(store.count_open(connection).values())


# Our own.


def _list(
    desk: Desk,
    connection: Connection,
    page: Page,
    whose: str | None,
    kind: str | None,
    holds: bool | None,
    language: str,
) -> Listed[AlertView]:
    now = int(desk.clock() * 1000)
    found = store.list_alerts(
        connection, whose, now, kind=kind, holds=holds, after=page.after, limit=page.limit + 1
    )
    name = cache(partial(spender, connection))  # those of one list are often of one account
    return listed(
        page,
        found,
        lambda one: (one.raised_ms, one.event),
        lambda one: _view(one, now, language, name),
    )


def _view(
    one: Alert, now_ms: int, language: str, name: Callable[[str, str | None], str]
) -> AlertView:
    data = msgspec.json.decode(one.detail)
    values = dict(data)
    if one.account is not None:
        values["what"] = name(one.account, data.get("key"))
        values["share"] = 100 - data.get("level", 0)
    return AlertView(
        id=one.event,
        kind=one.kind,
        account=one.account,
        created=v.iso_of(one.raised_ms / 1000),
        ended=None if one.ended_ms is None else v.iso_of(one.ended_ms / 1000),
        open=one.ended_ms is None or one.ended_ms > now_ms,
        says=letters.say(language, sentence(one.kind, data), values),
        data=data,
    )


def _delivery(one: Waiting) -> DeliveryView:
    state: Literal["sent", "waiting", "failing", "given_up"] = "waiting"
    if one.sent_ms is not None:
        state = "sent"
    elif one.due_ms is None:
        state = "given_up"
    elif one.problem:
        state = "failing"
    to = one.target if one.kind == "mail" else _host(one.target) or ""
    created = v.iso_of(one.created_ms / 1000)
    problem = None if state == "sent" else one.problem
    return DeliveryView(created, one.kind, to, one.subject, state, problem)


def _target(desk: Desk, connection: Connection, actor: Actor, account: str) -> TargetView:
    target = store.find_target(connection, account)
    to = of_account(connection, account)
    mail = desk.letters() is not None
    webhook = to.webhook or None
    if webhook is not None and not actor.may("alerts.change"):
        webhook = f"{_host(webhook)}/…"  # what comes then may be as good as a password
    emails = None if target is None or target.emails is None else list(target.emails)
    return TargetView(account, emails, list(to.emails) if mail else [], mail, webhook)


def _emails(given: list[str]) -> tuple[str, ...]:
    """Each once. Raises Refused: 400."""
    read = [v.email_of(one, f"emails[{place}]") for place, one in enumerate(given)]
    if len(read) > MOST_EMAILS:
        raise wrong("emails", f"emails: write at most {MOST_EMAILS} addresses.")
    return tuple(dict.fromkeys(read))


def _webhook(text: str) -> str:
    """A URL that may be sent to, as far as it tells by itself. Raises Refused: 400.

    What its name leads to is looked at with every webhook that is sent.
    """
    try:
        if len(text) > _LONGEST_URL:
            raise ValueError("the URL is too long")  # noqa: TRY301 - one message for all
        address = parse_url(text)
    except ValueError as error:
        raise wrong("webhook", f"webhook: {error}.") from None
    if address.port not in _PORTS:
        raise wrong("webhook", "webhook: its port must be 80 or 443.")
    inside = address.host == "localhost" or address.host.endswith(".localhost")
    if inside or (ip_address(address.host) is not None and not is_public(address.host)):
        raise wrong("webhook", "webhook: it must lie on the public internet.")
    return text


def _host(url: str | None) -> str | None:
    """Where a URL leads, for lists: what follows may be as good as a password."""
    if url is None:
        return None
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _secret(desk: Desk) -> str:
    """A secret as the Standard Webhooks scheme writes it."""
    return f"whsec_{base64.b64encode(desk.random(_SECRET_BYTES)).decode()}"


def _not_too_soon(change: Change, account: str) -> None:
    last = list_audit(change.connection, account=account, action="alerts.test", limit=MOST_TRIALS)
    if last and change.now_ms - last[0].at_ms < TRIAL_S * 1000:
        raise conflict("A test was sent less than a minute ago.")
    if len(last) == MOST_TRIALS and change.now_ms - last[-1].at_ms < 86_400_000:
        raise conflict(f"{MOST_TRIALS} tests were sent in the last 24 hours.")

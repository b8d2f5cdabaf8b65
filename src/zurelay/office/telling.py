"""How an alert becomes mails and a webhook: who is told, in which language, in what form.

Raises nothing and decides nothing about what is worth an alert.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from sqlalchemy import Connection

from zurelay.letters import alerts as letters
from zurelay.letters.texts import Text
from zurelay.office import values as v
from zurelay.office.desk import Desk
from zurelay.office.notices import Notice, mail
from zurelay.store.alerts import Alert, find_target, keepers, languages_of

CURRENCY: Final = "USD"
MOST_EMAILS: Final = 10
"""Addresses that are told of one account."""


@dataclass(frozen=True, slots=True)
class Recipients:
    """Who is told: addresses, and a webhook with its secret; each may be empty."""

    emails: tuple[str, ...] = ()
    webhook: str = ""
    secret: str = ""


def of_account(connection: Connection, account: str) -> Recipients:
    """Who is told of an account: as it says, else by mail those who keep it."""
    target = find_target(connection, account)
    if target is None:
        return Recipients(tuple(keepers(connection, account, MOST_EMAILS)))
    emails = keepers(connection, account, MOST_EMAILS) if target.emails is None else target.emails
    return Recipients(tuple(emails), target.webhook or "", target.secret or "")


def spending(
    desk: Desk, connection: Connection, to: Recipients, alert: Alert, what: str
) -> list[Notice]:
    """What those who pay are told when a level of a budget or balance is used up.

    Args:
        desk: whose mails they are.
        connection: a transaction.
        to: whoever is told.
        alert: of kind `budget` or `balance`.
        what: the account's name, and the key's where it is a key's budget.
    """
    detail = msgspec.json.decode(alert.detail)
    text = letters.SPENT if detail["level"] == 100 else letters.SPENDING
    link = f"/console/billing/alerts?account={alert.account}"
    body = _body(
        f"{alert.kind}.reached",
        alert.event,
        alert.raised_ms,
        {"account": alert.account, **detail, "currency": CURRENCY},
    )
    filled = {**detail, "what": what, "share": 100 - detail["level"]}
    said = _Said(sentence(alert.kind, detail), filled)
    return _notices(desk, connection, to, alert.account, text, said, body, link)


def happening(
    desk: Desk, connection: Connection | None, to: Recipients, alert: Alert
) -> list[Notice]:
    """What operators are told when something begins, and when it is over.

    Without a `connection` nobody's language is known, and all are told in English.
    """
    detail = msgspec.json.decode(alert.detail)
    over = alert.ended_ms is not None
    data: dict[str, Any] = {"kind": alert.kind, "since": v.iso_of(alert.raised_ms / 1000), **detail}
    if alert.ended_ms is not None:
        data["ended"] = v.iso_of(alert.ended_ms / 1000)
    name = "alert.ended" if over else "alert.raised"
    at = alert.raised_ms if alert.ended_ms is None else alert.ended_ms
    body = _body(name, alert.event, at, data)
    said = _Said(sentence(alert.kind, detail), detail)
    text = letters.OVER if over else letters.RAISED
    times = {"since": _minute(alert.raised_ms), "until": _minute(alert.ended_ms or 0)}
    link = "/console/routes/alerts"
    return _notices(desk, connection, to, None, text, said, body, link, **times)


def trial(
    desk: Desk, connection: Connection, to: Recipients, account: str, name: str
) -> list[Notice]:
    """What is sent to see whether it arrives."""
    now = int(desk.clock() * 1000)
    data = {"account": account}
    body = _body("test", f"test:{account}:{now}", now, data)
    link = f"/console/billing/alerts?account={account}"
    said = _Said("test", {})
    return _notices(
        desk, connection, to, account, letters.TRIAL, said, body, link, account_name=name
    )


def sentence(kind: str, detail: Mapping[str, Any]) -> str:
    """Which of `letters.alerts.SENTENCES` says it."""
    return f"{kind}_spent" if detail.get("level") == 100 else kind


# Our own.


@dataclass(frozen=True, slots=True)
class _Said:
    sentence: str
    values: Mapping[str, Any]


def _notices(
    desk: Desk,
    connection: Connection | None,
    to: Recipients,
    account: str | None,
    text: Text,
    said: _Said,
    body: str,
    link: str,
    **values: str,
) -> list[Notice]:
    notices: list[Notice] = []
    languages: dict[str, str] = {}
    if connection is not None and to.emails:
        languages = languages_of(connection, to.emails)
    for email in to.emails:
        code = languages.get(email, "en")
        told = letters.say(code, said.sentence, said.values)
        helped = account is not None  # operators are who helps
        notices += mail(
            desk, email, account, code, text, path=link, helped=helped, what=told, **values
        )
    if to.webhook:
        event = msgspec.json.decode(body)["type"]
        notices.append(Notice("webhook", to.webhook, account, event, body, to.secret))
    return notices


def _body(name: str, id_: str, at_ms: int, data: Mapping[str, object]) -> str:
    """A webhook's JSON."""
    made = {"type": name, "id": id_, "created": v.iso_of(at_ms / 1000), "data": data}
    return msgspec.json.encode(made).decode()


def _minute(ms: int) -> str:
    return v.iso_of(ms / 1000)[:16].replace("T", " ")

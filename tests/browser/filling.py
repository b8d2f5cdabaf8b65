"""A store filled with the worst that the validation lets in, for pages that must hold all of it.

Amounts are the largest and the smallest; there is something in every state. Goes through the office
and the store, as the gateway itself does.
"""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import cycle
from typing import Any, Literal

from tests.browser.extremes import (
    DAY,
    DEAR,
    EMAIL,
    LEAST_USD,
    MODELS,
    MOST,
    MOST_USD,
    NAMES,
    NOTES,
    PROBLEMS,
    PROVIDERS,
    SHAPED,
    spaced,
    unbroken,
)
from tests.conftest import CONTENT_KEY
from tests.console.history import write
from tests.console.people import OWNER
from tests.served import Served
from zurelay.chat.faults import FaultKind
from zurelay.chat.usage import Usage
from zurelay.letters.alerts import SENTENCES
from zurelay.live.ids import Ids
from zurelay.meter.content import Content, Stored
from zurelay.meter.record import STATUSES, Attempt, AutoChoice, RankedModel, RequestRecord
from zurelay.meter.tariff import Tariff
from zurelay.office.accounts import NewAccount, create_account, stop_account
from zurelay.office.alerts import TargetForm, set_target
from zurelay.office.console_keys import console_key
from zurelay.office.desk import Desk
from zurelay.office.keys import NewKey, create_key, revoke_key, rotate_key
from zurelay.office.links import member_link
from zurelay.office.members import NewMember, add, list_members
from zurelay.office.money import Payment, RefundForm, credit, debit, refund
from zurelay.office.pages import Page
from zurelay.office.prices import PriceForm, set_price
from zurelay.office.rights import Actor
from zurelay.office.sessions import sign_in_as
from zurelay.office.stops import Kind, StopForm, stop
from zurelay.office.support import Question, answer, ask, close
from zurelay.office.telling import Recipients
from zurelay.office.tokens import NewToken, create_token, revoke_token
from zurelay.office.values import AutoForm, BudgetForm, CeilingForm
from zurelay.office.watching import Sighting, raise_seen
from zurelay.store.alerts import Alert, add_alert, end_subject, open_of_operators, saw
from zurelay.store.content import StoredContents, add_contents
from zurelay.store.engine import Store
from zurelay.store.outbox import Waiting, add_waiting
from zurelay.store.sealing import Sealer


@dataclass(frozen=True, slots=True)
class Filled:
    """What pages of one thing are opened for.

    Attributes:
        accounts: ids; the first has most of everything.
        sessions: by role, of people with long names.
        link: the text of an invitation.
    """

    accounts: list[str]
    keys: list[str]
    requests: list[str]
    threads: list[str]
    sessions: dict[str, str]
    link: str


def fill(served: Served, store: Store) -> Filled:
    """Fill the store of a gateway that serves with `config`."""
    desk = Desk(store, sealer=lambda: Sealer([CONTENT_KEY]))
    for model in (*MODELS, "sandbox/echo"):
        _ask(served, model)
    accounts = _accounts(desk)
    keys = _keys(desk, accounts)
    people = _people(desk, accounts)
    entries = list(_requests(time.time(), accounts, keys))
    write(store, iter(entries))
    ids = [one.id for one in entries[: len(STATUSES) + 1]]
    _messages(desk, entries[: len(STATUSES)])
    _money(desk, accounts, ids)
    threads = _threads(desk, accounts, ids)
    _prices_and_stops(desk)
    _alerts(desk, accounts, keys)
    _outbox(desk, accounts)
    _audit(desk)
    _, link = member_link(desk, OWNER, accounts[0], EMAIL)
    return Filled(accounts, keys, ids, threads, people, link)


def _ask(served: Served, model: str) -> None:
    """A request of the gateway itself, so that its routes have failed."""
    body = {"model": model, "messages": [{"role": "user", "content": "?"}], "user": NAMES[1]}
    request = urllib.request.Request(  # noqa: S310
        f"{served.base_url}/chat/completions",
        json.dumps(body).encode(),
        {"authorization": f"Bearer {served.key}", "content-type": "application/json"},
    )
    try:
        urllib.request.urlopen(request, timeout=30).close()  # noqa: S310
    except urllib.error.HTTPError as refused:
        refused.close()


# Accounts and whoever is in them.


def _accounts(desk: Desk) -> list[str]:
    budgets = (BudgetForm(MOST_USD, "month"), BudgetForm(LEAST_USD, "day"), None)
    made = []
    for number, (name, budget) in enumerate(zip(NAMES, budgets, strict=True)):
        form = NewAccount(
            name,
            prepaid=number == 1,
            budget=budget,
            zone="America/Argentina/ComodRivadavia",
            rpm=2**31 - 1,
            tpm=2**53 - 1,
            concurrency=2**31 - 1,
            markup="999.999999",
        )
        made.append(create_account(desk, OWNER, form).id)
    stop_account(desk, OWNER, made[1])
    return made


def _keys(desk: Desk, accounts: list[str]) -> list[str]:
    """The first has all limits; then one without any, renewed, revoked, expired, the console's."""
    auto = AutoForm([unbroken(200)], [unbroken(200)], CeilingForm(DEAR, DEAR))
    full = NewKey(
        NAMES[0],
        accounts[0],
        models=[*MODELS, *(unbroken(200, f"none{number}") for number in range(20))],
        budget=BudgetForm(MOST_USD, "month"),
        rpm=2**31 - 1,
        tpm=2**53 - 1,
        concurrency=2**31 - 1,
        expires="9999-12-30",
        markup="999.999999",
        auto=auto,
        store_days=365,
    )
    made = [create_key(desk, OWNER, full).details.id]
    spent = BudgetForm(LEAST_USD, "total")
    for name, account in ((NAMES[1], accounts[0]), (NAMES[1], accounts[1]), ("plain", "default")):
        form = NewKey(name, account, budget=spent if account != "default" else None)
        made.append(create_key(desk, OWNER, form).details.id)
    rotate_key(desk, OWNER, made[1], overlap_s=30 * DAY)
    gone = create_key(desk, OWNER, NewKey(NAMES[1], accounts[0])).details.id
    revoke_key(desk, OWNER, gone)
    past = Desk(desk.store, clock=lambda: time.time() - 40 * DAY)
    last = (datetime.now(UTC) - timedelta(days=30)).date().isoformat()
    over = create_key(past, OWNER, NewKey(spaced(199), accounts[0], expires=last)).details.id
    return [*made, gone, over, console_key(desk, OWNER, accounts[0]).id]


def _people(desk: Desk, accounts: list[str]) -> dict[str, str]:
    """Members with the longest names and addresses; sessions of some, by single sign-on."""
    roles: tuple[Literal["owner", "member"], ...] = ("owner", "member")
    agents = ("W" * 200, "Mozilla/5.0 (X11; Linux x86_64; rv:99.0) Firefox/99.0")
    sessions: dict[str, str] = {}
    for number, role in enumerate(roles):
        email = f"{role}{EMAIL[len(role) :]}"
        add(desk, OWNER, accounts[0], NewMember(email, NAMES[number % 2], role))
        for agent in agents:
            sessions[role] = sign_in_as(desk, email, NAMES[number % 2], agent).text
    add(desk, OWNER, accounts[0], NewMember(EMAIL, NAMES[0]))
    assert len(list_members(desk, OWNER, accounts[0], Page(9)).data) == len(roles) + 1
    return sessions


# What was asked.


def _requests(now: float, accounts: list[str], keys: list[str]) -> Iterator[RequestRecord]:
    """First one of each status, the newest, with all there can be in it; then a month."""
    for number, status in enumerate(STATUSES):
        yield _entry(now - number, accounts[0], keys[0], status, _attempts(number))
    yield _entry(now - 60, accounts[0], keys[1], "ok", [])
    for number in range(300):
        at = now - 3600 - number * 8000
        yield RequestRecord(
            id=Ids(lambda at=at: at).request(),  # type: ignore[misc]
            created=at,
            account=(*accounts, "default")[number % 4],
            key=keys[number % len(keys)],
            endpoint="/v1/chat/completions",
            model=(*MODELS, "a-model-of-the-past")[number % 5],
            answered_by=(*MODELS, "a-model-of-the-past")[number % 5],
            status="error" if number % 9 == 0 else "ok",
            http_status=200,
            usage=Usage(input=10**9, cached_input=10**9, output=10**9, reasoning=10**9),
            cost=(10**12, 1)[number % 2],
            first_token_ms=3_600_000.0,
            duration_ms=7_200_000.0,
            user=(unbroken(256), spaced(256), None)[number % 3],
        )


def _entry(
    at: float, account: str, key: str, status: str, attempts: list[Attempt]
) -> RequestRecord:
    failed = status in ("error", "interrupted")
    running = status == "running"
    told = {unbroken(64, f"{number}"): (spaced, unbroken)[number % 2](512) for number in range(16)}
    return RequestRecord(
        id=Ids(lambda: at).request(),
        created=at,
        account=account,
        key=key,
        endpoint="/v1/chat/completions",
        model=MODELS[0],
        status=status,
        http_status=0 if running else 502 if failed else 200,
        answered_by=None if failed or running else MODELS[1],
        routed_from=unbroken(200, "auto"),
        error="provider_credential_refused_by_all" if failed else None,
        stream=True,
        effort_asked="minimal",
        effort="xhigh",
        finish_reason="content_filter",
        usage=None if running else _everything_used(),
        cost=0 if running else MOST,
        cost_estimated=True,
        tariff=None if running else _tariff(),
        attempts=attempts,
        first_token_ms=None if running else 86_399_999.0,
        duration_ms=None if running else 86_399_999.0,
        dropped=tuple(unbroken(64, f"field{number}") for number in range(9)),
        user=unbroken(256),
        metadata=told,
        client=unbroken(200),
        client_request_id=unbroken(512),
        address="2001:0db8:85a3:0000:0000:8a2e:0370:7334",
        auto=AutoChoice(
            "frontier",
            spaced(300),
            {},
            [RankedModel(model, "frontier", MOST - 1) for model in MODELS],
        ),
    )


def _everything_used() -> Usage:
    most = 2**53 - 1
    return Usage(most, most, most, most, most, most, most, most, False, most, most, 10**6, "flex")


def _tariff() -> Tariff:
    names = [name for name in SHAPED if isinstance(SHAPED[name], str) and name != "per_request"]
    return Tariff(dict.fromkeys(names, DEAR), MOST, MOST, 999_999_999)


def _attempts(number: int) -> list[Attempt]:
    """Tries of several routes: one for each kind of fault, and one that answered."""
    details = cycle((unbroken(1024), spaced(1024)))
    found = [
        Attempt(
            route=f"{PROVIDERS[place % 3]}:{unbroken(200)}",
            number=place + 1,
            model=MODELS[place % len(MODELS)],
            status="failed",
            start_ms=place * 1000.0,
            end_ms=place * 1000.0 + 999,
            reason=kind.value,
            http_status=529,
            detail=next(details),
            label=(spaced, unbroken)[place % 2](100) if number else None,
            cost=10**15,
        )
        for place, kind in enumerate(FaultKind)
    ]
    last = Attempt(f"{PROVIDERS[0]}:x", len(found) + 1, MODELS[1], "ok", 90_000.0, 86_399_999.0)
    return [*found, last]


def _messages(desk: Desk, entries: list[RequestRecord]) -> None:
    """Stored messages: a conversation, a refusal, an answer that is no JSON, cut ones."""
    call = {"id": "c", "type": "function"}
    arguments = json.dumps({"W" * 60: unbroken(3000)})
    call |= {"function": {"name": unbroken(128), "arguments": arguments}}  # type: ignore[dict-item]
    body = {
        "model": MODELS[0],
        "messages": [
            {"role": "system", "content": spaced(3000)},
            {"role": "user", "content": [{"type": "text", "text": unbroken(3000)}]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": unbroken(3000)},
            {"role": unbroken(60), "content": spaced(300)},
        ],
    }
    error = {"error": {"message": unbroken(3000), "type": "server_error", "code": unbroken(99)}}
    done = {"role": "assistant", "content": unbroken(3000), "reasoning_content": unbroken(3000)}
    answers: tuple[object, ...] = (error, {"choices": [{"message": done}]}, unbroken(3000))
    contents = StoredContents(desk.store)
    contents.sealer = desk.sealer()
    rows = []
    for entry, said in zip(entries, cycle(answers), strict=False):
        content = Content(
            "openai_chat",
            json.dumps(body).encode(),
            json.dumps(said).encode(),
            ended=False,
            body_cut=True,
            answer_cut=True,
        )
        expires = int(time.time()) + 300 * DAY
        stored = Stored(
            entry.id, entry.created, entry.account, entry.key, entry.user, expires, content
        )
        rows.append((stored, contents.seal(stored)))
    with desk.store.write() as connection:
        add_contents(connection, rows)


# Money, support, prices.


def _money(desk: Desk, accounts: list[str], requests: list[str]) -> None:
    """Large, tiny and negative balances; references and notes as long as they may be."""
    for account in accounts:
        for number, note in enumerate(NOTES):
            ref = unbroken(200, f"{account}-{number}-")
            credit(desk, OWNER, account, Payment((MOST_USD, LEAST_USD, "1")[number], ref, note))
    for number in range(3):
        ref = unbroken(200, f"debit-{number}-")
        debit(desk, OWNER, accounts[2], Payment(MOST_USD, ref, NOTES[number]))
    refund(desk, OWNER, requests[1], RefundForm(MOST_USD, unbroken(200, "refund-"), NOTES[1]))


def _threads(desk: Desk, accounts: list[str], requests: list[str]) -> list[str]:
    """One that waits, one that is answered, one that is settled; unread by operators and members."""
    found = []
    for account in accounts[:2]:
        member = Actor(unbroken(200, "person:"), "member", account)
        for subject in NAMES[:2]:
            question = Question(account, subject, unbroken(9_000), requests[0])
            if account != accounts[0]:
                question.request = None
            found.append(ask(desk, member, subject, question).id)
    member = Actor("person:x", "member", accounts[0])
    answer(desk, OWNER, NAMES[1], found[0], spaced(9_000))
    answer(desk, member, NAMES[0], found[0], "W\n\n" * 200)
    answer(desk, OWNER, NAMES[0], found[1], unbroken(9_000))
    close(desk, OWNER, found[2])
    return found


def _prices_and_stops(desk: Desk) -> None:
    for number, model in enumerate((*MODELS, "sandbox/echo", "a-model-of-the-past")):
        price: dict[str, Any] | str = SHAPED if number % 2 else "free"
        for since in (None, "2099-12-31"):
            set_price(desk, Actor(unbroken(200, "token:"), "owner"), PriceForm(model, price, since))
    stopped: tuple[tuple[Kind, str], ...] = (
        ("provider", PROVIDERS[1]),
        ("model", MODELS[1]),
        ("route", f"{PROVIDERS[0]}:{MODELS[0]}"[:200]),
        ("model", "sandbox/lorem"),
        ("route", "sandbox:sandbox/echo"),
    )
    for number, (kind, name) in enumerate(stopped):
        actor = Actor(unbroken(200, "token:"), "owner")
        stop(desk, actor, StopForm(kind, name, NOTES[number % 3]))


# What people are told.


def _alerts(desk: Desk, accounts: list[str], keys: list[str]) -> None:
    """Of every kind there is: of the operators once as they hold and once over."""
    now = int(time.time() * 1000)
    route = f"{PROVIDERS[0]}:{unbroken(300)}"
    values = {
        "route": route,
        "provider": PROVIDERS[0],
        "node": unbroken(200, "node-"),
        "rows": 2**53 - 1,
        "percent": 100,
        "seconds": -(10**9),
        "day": "2026-12-31",
        "models": [*MODELS, "12 more"],
    }
    spent = ("budget", "budget_spent", "balance", "balance_spent", "test")
    kinds = [kind for kind in SENTENCES if kind not in spent]
    seen = [Sighting(kind, str(place), values) for kind in kinds for place in (1, 2)]
    raise_seen(desk, seen, Recipients())
    with desk.store.write() as connection:
        for one in seen[::2]:
            end_subject(connection, one.subject, now)
        holding = [one.event for one in open_of_operators(connection)]
        saw(connection, holding, now + DAY * 1000)  # no node sees them; they are not to end
        for level in (50, 80, 100):
            for key in (None, keys[0]):
                detail = {"level": level, "period": "2026-11", "key": key}
                detail |= {"budget": MOST_USD, "spent": MOST_USD}
                told = json.dumps(detail)
                event = f"budget{level}{key}"
                alert = Alert(event, "budget", accounts[0], now, now + DAY * 1000, told, "budget:x")
                add_alert(connection, alert)
            detail = {"level": level, "credit": MOST_USD, "left": f"-{MOST_USD}"}
            alert = Alert(
                f"b{level}", "balance", accounts[0], now, None, json.dumps(detail), "balance:x"
            )
            add_alert(connection, alert)


def _outbox(desk: Desk, accounts: list[str]) -> None:
    """Mails and webhooks sent, waiting, tried again soon and given up, for every reason there is."""
    host = f"{'x' * 63}.{'y' * 63}.example"
    emails = [f"{number}{EMAIL[1:]}" for number in range(9)]
    set_target(
        desk, OWNER, accounts[0], TargetForm(emails, f"https://{host}/{unbroken(1800, 'in/')}")
    )
    url = f"https://{host}/{unbroken(1800, 'in/')}"
    now = int(time.time() * 1000)
    later = now + 9 * DAY * 1000
    became: list[tuple[str, str | None]] = [("sent", None), ("waiting", None)]
    became += [("failing", problem) for problem in PROBLEMS]
    became += [("given_up", problem) for problem in PROBLEMS[-2:]]
    rows = []
    for number, (state, problem) in enumerate(became):  # no more than the page shows
        kind, target = (("mail", emails[number % 9]), ("webhook", url))[number % 2]
        over = state in ("sent", "given_up")
        rows.append(
            Waiting(
                f"out_{number}",
                now - number * 3_600_000,
                kind,
                target,
                accounts[0],
                spaced(200),
                "",
                tries=3,
                due_ms=None if over else later,
                sent_ms=now if state == "sent" else None,
                problem=problem,
            )
        )
    with desk.store.write() as connection:
        add_waiting(connection, rows)


def _audit(desk: Desk) -> None:
    """Lines of somebody with a long name about something with a long name."""
    actor = Actor(unbroken(200, "token:"), "owner")
    for name in NAMES[:2]:
        made = create_token(desk, actor, NewToken(name, "admin"))
        revoke_token(desk, actor, made.details.id)

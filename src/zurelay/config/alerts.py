"""Settings of the operators' alerts. Part of the schema of settings."""

from dataclasses import dataclass

from zurelay.config import values as v
from zurelay.config.schema import setting
from zurelay.upstream.url import parse_url

MOST_EMAILS = 10


def _email(value: object) -> str:
    found: str = v.text("ops@example.com", most=254, empty=False).read(value)
    name, at, domain = found.rpartition("@")
    if not (at and name and domain) or "@" in name or " " in found or not found.isascii():
        raise v.wrong('it is no address; write one such as "ops@example.com"')
    return found.lower()


def _emails(value: object) -> tuple[str, ...]:
    of = v.Type("address", _email)
    found: tuple[str, ...] = v.listing(of, '"ops@example.com"').read(value)
    if len(found) > MOST_EMAILS:
        raise v.wrong(f"write at most {MOST_EMAILS} addresses; a mailing list reaches more")
    return found


def _webhook(value: object) -> str:
    example = "https://hooks.example.com/zurelay"
    found: str = v.text(example, most=2000).read(value)
    if found:
        try:
            parse_url(found)
        except ValueError as error:
            raise v.wrong(f'{error}; write a URL such as "{example}"') from None
    return found


@dataclass(frozen=True, slots=True)
class Alerts:
    """What operators are told of by mail and webhook; the console shows all of it anyway."""

    emails: tuple[str, ...] = setting(
        v.Type("list of addresses, at most 10", _emails),
        (),
        "Who gets a mail; needs `[smtp]`.",
    )
    webhook: str = setting(
        v.Type("secret address", _webhook, secret=True),
        "",
        "A URL that takes alerts as JSON; it may lie inside the network.",
    )
    secret: str = setting(
        v.secret("$ALERTS_SECRET"),
        "",
        "Signs what the webhook gets, by the Standard Webhooks scheme. Empty: it goes unsigned.",
    )
    route_down_s: float = setting(
        v.seconds(0, 86_400, 300), 300.0, "How long a route must be down."
    )
    spool_s: float = setting(
        v.seconds(10, 86_400, 300), 300.0, "How long records must wait for the database."
    )
    disk_percent: int = setting(v.whole(1, 100, 80), 80, "How full the disk of `--data` may be.")
    clock_s: float = setting(
        v.number(0.1, 3600, 1, " of seconds"), 1.0, "How far a clock may be off the database's."
    )
    retiring_days: int = setting(
        v.whole(0, 365, 30), 30, "How long before a served model retires; 0 never."
    )

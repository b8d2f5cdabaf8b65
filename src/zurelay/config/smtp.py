"""Settings of sending mail. Part of the schema of settings."""

from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import parseaddr
from ipaddress import ip_address
from typing import Literal

from zurelay.config import values as v
from zurelay.config.schema import setting

_EXAMPLE = "Example AI <ai@example.com>"


def _host(value: object) -> str:
    found: str = v.text("smtp.example.com", most=253).read(value)
    if any(c in found for c in "/@ ") or ("::" not in found and ":" in found):
        raise v.wrong('write a name alone, such as "smtp.example.com"; the port has a key')
    return found


def _sender(value: object) -> str:
    found: str = v.text(_EXAMPLE, most=300).read(value)
    _, address = parseaddr(found)
    name, at, domain = address.rpartition("@")
    if found and not (at and name and domain and address.isascii() and " " not in address):
        raise v.wrong(f'it holds no address; write "{_EXAMPLE}" or "ai@example.com"')
    return found


PASSWORD = v.Type("secret text", v.text("$SMTP_PASSWORD", most=1000).reader, secret=True)
"""Unlike keys it may hold spaces and letters of any kind."""


@dataclass(frozen=True, slots=True)
class Smtp:
    """The server that takes mails: invitations, new passwords, support, alerts. Off without one."""

    host: str = setting(v.Type("host name", _host), "", "The server's name. Empty: no mail.")
    port: int = setting(v.whole(1, 65_535, 587), 587, "Its port; 465 goes with `tls`.")
    security: Literal["starttls", "tls", "none"] = setting(
        v.choice("starttls", "tls", "none"),
        "starttls",
        '"starttls" encrypts after the greeting and goes no further where the server cannot;'
        ' "tls" encrypts from the start; "none" is for a server on this machine or network.',
    )
    user: str = setting(
        v.text("ai@example.com", most=300), "", "Who signs in there; empty: nobody does."
    )
    password: str = setting(PASSWORD, "", "What they sign in with.")
    sender: str = setting(
        v.Type("address with or without a name", _sender),
        "",
        f"Whom mails are from, such as `{_EXAMPLE}`; must be there with `host`.",
    )
    timeout: float = setting(
        v.seconds(1, 60, 20), 20.0, "How long the server may take for each step."
    )


def faults(smtp: Smtp) -> Iterator[tuple[str, str]]:
    """What does not go together: (key, what to write instead)."""
    if not smtp.host:
        if smtp.user or smtp.password or smtp.sender:
            yield "host", 'it is missing; write host = "smtp.example.com", or leave the table out'
        return
    if not smtp.sender:
        yield "sender", f'it is missing; write sender = "{_EXAMPLE}"'
    if bool(smtp.user) != bool(smtp.password):
        yield "user" if smtp.password else "password", "user and password go together; write both"
    elif smtp.password and smtp.security == "none" and not _near(smtp.host):
        yield (
            "security",
            'the password would travel for all to read; write "starttls", or "tls" with port 465',
        )


def _near(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False

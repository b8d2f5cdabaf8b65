"""People who open the console of a whole gateway, by role, as a browser would without scripts."""

import asyncio
import http.client
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import SimpleCookie
from urllib.parse import urlencode, urljoin, urlsplit

from zurelay.office.desk import Desk
from zurelay.office.links import follow, member_link
from zurelay.office.members import NewMember, add
from zurelay.office.rights import Actor
from zurelay.testing.gateway import RunningGateway

OWNER = Actor("test", "owner")
PASSWORD = "correct horse battery"


@dataclass(frozen=True)
class Seen:
    """What came back: `url` is where it came from after redirects."""

    status: int
    headers: Mapping[str, str]
    text: str
    url: str
    cookies: tuple[str, ...]


class Person:
    """Somebody with a browser: keeps cookies, follows redirects, sends the form's token along."""

    def __init__(self, gateway: RunningGateway, cookies: dict[str, str]) -> None:
        self.gateway = gateway
        self.cookies = cookies
        self.token = ""

    async def get(self, path: str, **headers: str) -> Seen:
        return await self.call("GET", path, b"", headers)

    async def post(
        self, path: str, fields: Mapping[str, str] | None = None, **headers: str
    ) -> Seen:
        """Send a form; its token is that of the last page seen, or of the profile page."""
        if not self.token:
            await self.get("/console/profile")
        body = urlencode({"token": self.token, **(fields or {})}).encode()
        kind = {"content-type": "application/x-www-form-urlencoded"}
        return await self.call("POST", path, body, kind | headers)

    async def call(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Seen:
        seen = await self.send(method, path, body, headers)
        for _ in range(5):
            if seen.status not in (302, 303, 307):
                break
            seen = await self.send("GET", urljoin(seen.url, seen.headers["location"]), b"", {})
        return seen

    async def send(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Seen:
        """One call, without following anything."""
        url = urljoin(self.gateway.base_url, path)
        given = {name.replace("_", "-"): value for name, value in (headers or {}).items()}
        given.setdefault("host", f"127.0.0.1:{self.gateway.process.port}")
        if self.cookies:
            given["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        status, found_headers, content = await asyncio.to_thread(_called, url, method, body, given)
        text = content.decode("utf-8", "replace")
        set_cookies = tuple(value for name, value in found_headers if name == "set-cookie")
        for line in set_cookies:
            for name, morsel in SimpleCookie(line).items():
                if morsel.value:
                    self.cookies[name] = morsel.value
                else:
                    self.cookies.pop(name, None)
        found = re.search(r'name="token" value="([0-9a-f]+)"', text)
        if found:
            self.token = found.group(1)
        return Seen(status, dict(found_headers), text, url, set_cookies)


def person(gateway: RunningGateway, role: str) -> Person:
    """Somebody who is signed in with that role in the account `default`; `nobody` is not."""
    if role == "nobody":
        return Person(gateway, {})
    desk = Desk(gateway.store)
    form = NewMember(f"{role}@example.com", role.title(), role)  # type: ignore[arg-type]
    add(desk, OWNER, "default", form)
    _, text = member_link(desk, OWNER, "default", form.email)
    visitor = follow(desk, text, "test", name=form.name, password=PASSWORD)
    return Person(gateway, {"zurelay_session": visitor.text})


def _called(
    url: str, method: str, body: bytes, headers: Mapping[str, str]
) -> tuple[int, list[tuple[str, str]], bytes]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    try:
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        connection.request(method, path, body or None, dict(headers))
        answer = connection.getresponse()
        found = [(name.lower(), value) for name, value in answer.getheaders()]
        return answer.status, found, answer.read()
    finally:
        connection.close()

"""A real OpenID Connect provider in a process of its own, and how one says there who one is."""

import contextlib
import http.client
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from urllib.parse import urlencode, urlsplit

from tests.served import free_port

PEOPLE = (
    {"sub": "ann", "email": "Member@Example.com", "email_verified": True, "name": "Ann"},
    {"sub": "bob", "email": "bob@example.com", "email_verified": False, "name": "Bob"},
    {"sub": "eve", "email": "eve@example.com", "email_verified": True, "name": "Eve"},
    {"sub": "none", "name": "Nobody"},
)


@contextlib.contextmanager
def oidc_provider() -> Iterator[str]:
    """Its issuer, until the block ends."""
    port = free_port()
    people = [part for one in PEOPLE for part in ("--user-claims", json.dumps(one))]
    command = [sys.executable, "-m", "oidc_provider_mock", "-p", str(port), "-n", "true", *people]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 30
        while not _ready(port):
            assert running.poll() is None, "the provider ended"
            assert time.monotonic() < end, "the provider does not listen"
            time.sleep(0.1)
        yield f"http://localhost:{port}"
    finally:
        running.terminate()
        running.wait(10)


def says(authorization_url: str, sub: str | None) -> str:
    """Where the provider sends a browser back to, once that person said yes; None says no."""
    parts = urlsplit(authorization_url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    body = urlencode({"action": "deny"} if sub is None else {"sub": sub})
    kind = {"content-type": "application/x-www-form-urlencoded"}
    connection.request("POST", f"{parts.path}?{parts.query}", body, kind)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.getheader("location") or ""


def _ready(port: int) -> bool:
    connection = http.client.HTTPConnection("localhost", port, timeout=5)
    try:
        connection.request("GET", "/.well-known/openid-configuration")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()

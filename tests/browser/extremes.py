"""The longest texts and the largest numbers that the validation lets in, and a gateway of such.

Texts come with spaces and without any place to break them.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle, islice
from typing import Any, Final

from tests.conftest import CONTENT_KEY

DAY: Final = 86_400
MOST_USD: Final = "999999999.999999999"
LEAST_USD: Final = "0.000000001"
MOST: Final = 10**18 - 1
"""Nano-dollars of `MOST_USD`."""

_WORDS: Final = (
    "the",
    "Verkehrswegeplanungsbeschleunigungsgesetz",
    "of",
    "aansprakelijkheidsverzekeringsmaatschappij",
    "and",
    "anticonstitutionnellement",
)


def spaced(count: int) -> str:
    """A text of so many letters, of short words and the longest that there are."""
    text = " ".join(islice(cycle(_WORDS), count // 3 + 1))[:count]
    return text if text[-1] != " " else f"{text[:-1]}x"


def unbroken(count: int, begin: str = "") -> str:
    """A text of so many of the widest letters, without a place to break it."""
    return (begin + "W" * count)[:count]


def dashed(count: int, begin: str) -> str:
    """An id of so many letters as vendors write them: with dashes and slashes."""
    return (begin + "-instruct-preview/2026.11" * count)[:count].rstrip("-/.") + "x"


MODELS: Final = (
    dashed(199, "wide-vendor/wide-model"),
    unbroken(200, "unbroken"),
    dashed(120, "middle-vendor/model"),
    "wide/short",
)
PROVIDERS: Final = (dashed(199, "wide-provider"), unbroken(200, "unreached"), "short")
EMAIL: Final = f"{'a' * 64}@{'b' * 63}.{'c' * 63}.{'d' * 57}.com"
NAMES: Final = (spaced(200), unbroken(200), "Ann")
NOTES: Final = (spaced(500), unbroken(500), "")
DEAR: Final = "999999999.999999999999"
PRICE: Final[dict[str, Any]] = {
    "input": DEAR,
    "cached_input": "0.000000000001",
    "cache_write": DEAR,
    "cache_write_long": DEAR,
    "audio_input": DEAR,
    "image_input": DEAR,
    "output": DEAR,
    "audio_output": DEAR,
    "image_output": DEAR,
    "per_request": MOST_USD,
    "per_call": {"web_search": MOST_USD},
}
SHAPED: Final[dict[str, Any]] = PRICE | {
    "above": [
        {"prompt_tokens": 200_000, "input": DEAR, "output": DEAR},
        {"prompt_tokens": 900_000_000, "input": DEAR, "output": DEAR},
    ],
    "tiers": {"flex": "3", "q" * 40: "999"},
    "hours": [
        {"utc": ["Mon-Fri 01:00-04:00", "Sat-Sun 00:00-24:00"], "input": DEAR, "output": DEAR},
        {
            "utc": ["Mon 05:00-06:00"],
            "input": DEAR,
            "output": DEAR,
            "above": [{"prompt_tokens": 200_000, "input": DEAR, "output": DEAR}],
        },
    ],
}
PROBLEMS: Final = (
    "it cannot be reached from here",
    "the process that sent it ended each time",
    "no answer in 10 s",
    "it answers with status 503",
    f"it said 550: {unbroken(400)}",
    f"it said 450: {spaced(400)}",
)


def config(upstream: str) -> str:
    """The gateway's: providers and models with the longest names. `upstream` refuses all."""
    said = [
        "[server]\nshutdown_grace_s = 1\ndrain_delay_s = 0",
        f'[log]\ncontent_key = "{CONTENT_KEY}"',
        f'[brand]\nname = "{unbroken(60)}"\nsupport_email = "{EMAIL}"',
        f"[alerts]\nemails = {json.dumps([EMAIL])}",
        '[oidc]\nissuer = "https://login.example.com"\nclient_id = "x"\nclient_secret = "x"',
        f'name = "{unbroken(60)}"',
    ]
    for name, status in zip(PROVIDERS, (500, 401, 429), strict=True):
        said.append(
            f'[providers."{name}"]\nkind = "openai"\napi_key = "x"\nbase_url = "{upstream}/{status}/v1"'
        )
    for number, id_ in enumerate(MODELS):
        routes = [{"provider": one, "model": unbroken(300, id_[:9])} for one in PROVIDERS]
        said.append(
            f'[models."{id_}"]\nname = "{(spaced, unbroken)[number % 2](120)}"\n'
            f"context = 1_000_000_000\nmax_output = 1_000_000_000\n"
            'input = ["text", "image", "pdf", "audio", "video"]\ntools = true\n'
            'reasoning = { levels = ["none", "minimal", "low", "medium", "high", "xhigh", "max"],'
            ' default = "medium" }\nmarkup = "999.999999"\n'
            f"price = {_toml(SHAPED if number else PRICE)}\n"
            f"routes = {_toml(routes)}"
        )
    return "\n".join(said)


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(k)} = {_toml(v)}' for k, v in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)


@contextmanager
def refusing() -> Iterator[str]:
    """An upstream on loopback that refuses all, at great length; its address.

    The first part of a request's path is the status that it answers with.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Refusal)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Refusal(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.dumps({"error": {"message": unbroken(4000), "type": "x"}}).encode()
        self.send_response(int(self.path.split("/")[1]))
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's
        """Nothing is to be printed."""

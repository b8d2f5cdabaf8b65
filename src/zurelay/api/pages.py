"""The pages a person sees at `/` and `/docs`: what runs here and how to call it.

Plain HTML without scripts. Knows brand and address, and asks for the rest when it is looked at.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2230; --soft: #5c6474; --line: #d9dde5;
  --paper: #fbfbfd; --code: #f0f2f6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaf0; --soft: #9aa3b5;
  --line: #333a49; --paper: #14171f; --code: #1d222d; } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 44rem; margin: 4rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; } p.soft, dt { color: var(--soft); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1.5rem;
  border: solid var(--line); border-width: 1px 0; padding: 1rem 0; margin: 1.5rem 0; }
dd { margin: 0; } code, pre { font: .9rem/1.5 ui-monospace, monospace; }
pre { background: var(--code); padding: 1rem; border-radius: .5rem; white-space: pre-wrap;
  overflow-wrap: anywhere; }
"""


@dataclass(frozen=True, slots=True)
class Status:
    """What the page tells."""

    brand: str
    version: str
    base_url: str
    state: str
    models: int
    providers: int
    example_model: str


def pages(status: Callable[[], Status], others: Sequence[BaseRoute] = ()) -> Starlette:
    """The ASGI application of everything that is not the data plane.

    Args:
        status: what the page tells, asked when it is looked at.
        others: what else is served, each at its own path.
    """

    def page(_request: Request) -> Response:
        return HTMLResponse(_page(status()), headers=_HEADERS)

    def missing(_request: Request, _error: Exception) -> Response:
        return JSONResponse(
            {
                "error": {
                    "message": "There is no such page here.",
                    "type": "invalid_request_error",
                    "param": None,
                    "code": "not_found",
                }
            },
            404,
        )

    return Starlette(
        routes=[*(Route(path, page) for path in ("/", "/docs")), *others],
        exception_handlers={404: missing},
    )


def _page(status: Status) -> str:
    rows = (
        ("State", status.state),
        ("Version", status.version),
        ("Base URL", f"{status.base_url}/v1"),
        ("Models", str(status.models)),
        ("Providers", str(status.providers)),
    )
    facts = "".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in rows)
    curl = escape(
        f"curl {status.base_url}/v1/chat/completions \\\n"
        '  -H "Authorization: Bearer $ZURELAY_API_KEY" \\\n'
        '  -H "Content-Type: application/json" \\\n'
        f"""  -d '{{"model": "{status.example_model}","""
        """ "messages": [{"role": "user", "content": "Hello"}]}'"""
    )
    brand = escape(status.brand)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{brand}</title><style>{_STYLE}</style></head><body><main>"
        f'<h1>{brand}</h1><p class="soft">One base URL and one key for every language model.</p>'
        f'<dl>{facts}</dl><p>Keys are made in the <a href="/console">console</a>, or with'
        f" <code>zurelay keys create NAME</code>. Then:</p>"
        f"<pre>{curl}</pre></main></body></html>"
    )

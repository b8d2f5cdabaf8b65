"""Rewrites the tables that documents take from the code, between their markers.

python -m scripts.generate_docs    rewrite
python -m scripts.generate_docs --check    exit 1 if a document is behind the code
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import fields

from zurelay.admin.application import ENDPOINTS
from zurelay.admin.endpoint import NoQuery
from zurelay.admin.openapi import roles
from zurelay.catalogue.load import standard
from zurelay.console.registry import PAGES
from zurelay.docs.levels import levels_of
from zurelay.office.rights import RIGHTS
from zurelay.providers.base import Kind
from zurelay.providers.registry import KINDS

ROOT = Path(__file__).resolve().parents[1]


def provider_table() -> Iterator[str]:
    """One row per kind, in the order in which they are found in the environment."""
    yield "| `kind` | vendor | default address | key found in | models |"
    yield "|---|---|---|---|---|"
    for row in KINDS.values():
        yield (
            f"| `{row.name}` | {row.title} | {_address(row)} | {_variables(row)} | {_models(row)} |"
        )


_ADDRESSES = {
    "sandbox": "inside the gateway",
    "bedrock": "from `region`",
    "vertex": "from `project` and `location`",
}
_CREDENTIALS = {"vertex": "give `credentials`"}


def _address(row: Kind) -> str:
    if row.name in _ADDRESSES:
        return _ADDRESSES[row.name]
    return f"`{row.base_url}`" if row.base_url else "give `base_url`"


def _variables(row: Kind) -> str:
    if row.name in _CREDENTIALS:
        return _CREDENTIALS[row.name]
    if row.key_variables:
        return ", ".join(f"`{variable}`" for variable in row.key_variables)
    return "give `api_key`" if row.key_required else "no key needed"


def _models(row: Kind) -> str:
    if row.vendor is not None:
        return f"{len(standard().by_vendor[row.vendor])} in the catalogue"
    return "its own list" if row.lists_models else "named in `routes`"


def vendor_table() -> Iterator[str]:
    """One row per vendor of the catalogue."""
    yield "| vendor | models | with a price | checked |"
    yield "|---|---|---|---|"
    for vendor, models in standard().by_vendor.items():
        if vendor != "sandbox":
            priced = sum(model.price is not None for model in models)
            yield f"| {vendor} | {len(models)} | {priced} | {min(m.checked for m in models)} |"


def levels_table() -> Iterator[str]:
    """One row per model and way to think; vendors that agree on a model share its row."""
    yield "| model | at | levels, `*` the default | `none` becomes |"
    yield "|---|---|---|---|"
    everything = [model for models in standard().by_vendor.values() for model in models]
    for row in levels_of(everything):
        levels = row.text or "does not think"
        yield f"| `{row.model}` | {', '.join(row.vendors)} | {levels} | {row.off} |"


def endpoint_table() -> Iterator[str]:
    """One row per endpoint of the admin API."""
    yield "| call | what | roles |"
    yield "|---|---|---|"
    for endpoint in ENDPOINTS:
        everyone = "all" if len(roles(endpoint)) == len(RIGHTS) else ", ".join(roles(endpoint))
        yield f"| `{endpoint.method} {endpoint.path}` | {endpoint.summary} | {everyone} |"


_WHO = ("nobody", "owner", "admin", "member", "read-only")


def page_table() -> Iterator[str]:
    """One row per page and action of the console: who may open or do it."""
    yield "| page or action | nobody | owner | admin | member | read-only |"
    yield "|---|---|---|---|---|---|"
    for page in sorted(PAGES, key=lambda one: (one.path, one.method)):
        may = " | ".join("yes" if who in page.roles else "" for who in _WHO)
        yield f"| `{page.method} {page.path}` | {may} |"


def field_table() -> Iterator[str]:
    """One row per field of a body or query; `*` marks what must be there."""
    yield "| call | body | query |"
    yield "|---|---|---|"
    for endpoint in ENDPOINTS:
        if endpoint.body is None and endpoint.query is NoQuery:
            continue
        call = f"`{endpoint.method} {endpoint.path}`"
        query = None if endpoint.query is NoQuery else endpoint.query
        yield f"| {call} | {_fields(endpoint.body)} | {_fields(query)} |"


def _fields(type_: type[Struct] | None) -> str:
    if type_ is None:
        return ""
    return ", ".join(
        f"`{field.encode_name}`{'*' if field.required else ''}" for field in fields(type_)
    )


TABLES: dict[str, tuple[str, Callable[[], Iterator[str]]]] = {
    "providers": ("docs/operate/providers.md", provider_table),
    "vendors": ("docs/operate/catalogue.md", vendor_table),
    "levels": ("docs/operate/reasoning-levels.md", levels_table),
    "endpoints": ("docs/operate/admin-api.md", endpoint_table),
    "fields": ("docs/operate/admin-api.md", field_table),
    "pages": ("docs/operate/console.md", page_table),
}


def rewritten(text: str, name: str, lines: Iterator[str]) -> str:
    """`text` with the table called `name` made anew; its markers must be there."""
    marker = f"<!-- generated: {name} -->"
    pattern = re.compile(f"{re.escape(marker)}\n.*?<!-- end -->", re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"no {marker} ... <!-- end -->")
    table = "\n".join(lines)
    return pattern.sub(lambda _: f"{marker}\n{table}\n<!-- end -->", text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    behind = False
    for name, (path, table) in TABLES.items():
        document = ROOT / path
        old = document.read_text(encoding="utf-8")
        new = rewritten(old, name, table())
        if old != new:
            behind = True
            print(f"{path}: {'behind the code' if check else 'rewritten'}", file=sys.stderr)
            if not check:
                document.write_text(new, encoding="utf-8")
    return int(check and behind)


if __name__ == "__main__":
    raise SystemExit(main())

"""The documentation page of all settings, made from the schema.

`python -m zurelay.config.page` prints it; a test holds `docs/operate/settings.md` to it.
"""

import sys
from collections.abc import Iterator

from zurelay.config.accounts import kind_names, kind_row
from zurelay.config.schema import REQUIRED, Setting, settings_of
from zurelay.config.settings import NAMED_TABLES, TABLES

_HEAD = """\
# Settings

One TOML file, given with `--config`; without it `zurelay.toml` in the working folder; without \
that, providers are found by their usual environment variables; without any, the sandbox models \
are served alone. Every key may be left out. `zurelay check` names each fault with the file, the \
key and what to write instead.

- `"$NAME"` takes a value from the environment, for numbers and flags too; a text that begins \
with `$` is written `"$$..."`.
- `"file:/run/secrets/key"` takes it from a file, which is read anew at each reload. A relative \
path starts at the folder of the configuration.
- Times are in seconds, with or without a fraction.
- Prices are text, because fractions would be inexact.
- A change of the file, of a file it names, or SIGHUP reloads it without dropping a request. A \
faulty file is reported and the old settings stay in force. Settings marked **restart** take \
effect at the next start.

<!-- Made from the schema by `python -m zurelay.config.page`; a test compares the two. -->
"""

_NAMED = {"providers": "[providers.NAME]", "models": '[models."PUBLIC-ID"]'}


def page() -> str:
    """The page, in Markdown."""
    return "\n".join([_HEAD, *_tables(), *_kinds()]) + "\n"


def _tables() -> Iterator[str]:
    for name, table in (*TABLES.items(), *NAMED_TABLES.items()):
        yield f"## `{_NAMED.get(name, f'[{name}]')}`\n"
        yield f"{_summary(table)}\n"
        yield "| key | value | default | |"
        yield "|---|---|---|---|"
        yield from map(_line, settings_of(table))
        yield ""


def _summary(table: type) -> str:
    return (table.__doc__ or "").strip().split("\n")[0]


def _line(one: Setting) -> str:
    restart = " **restart**" if one.restart else ""
    cells = (f"`{one.name}`", one.type.title, _default(one), f"{one.doc}{restart}")
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _default(one: Setting) -> str:
    if one.default is REQUIRED:
        return "none, it must be there"
    if one.shown:
        return one.shown
    match one.default:
        case bool():
            return "`true`" if one.default else "`false`"
        case int() | float():
            return f"`{one.default:g}`" if isinstance(one.default, float) else f"`{one.default}`"
        case str():
            return f'`"{one.default}"`'
        case tuple():
            return "`[]`"
        case _:
            return "`{}`"


def _kinds() -> Iterator[str]:
    yield "## Kinds of provider\n"
    yield "| `kind` | what | default `base_url` | variable of its key |"
    yield "|---|---|---|---|"
    for name in kind_names():
        kind = kind_row(name)
        variables = ", ".join(f"`{variable}`" for variable in kind.key_variables)
        address = f"`{kind.base_url}`" if kind.base_url else ""
        yield f"| `{name}` | {kind.title} | {address} | {variables} |"


if __name__ == "__main__":
    sys.stdout.write(page())

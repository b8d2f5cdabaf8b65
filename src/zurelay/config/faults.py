"""What is wrong with a configuration: where it stands and what to write instead.

Knows no settings. A message never carries a value, because a value may be a secret.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing to correct.

    Attributes:
        file: the file it stands in, or `environment`.
        key: path of the key as TOML writes it, `models."gpt-4.1".routes[0]`; empty for the file
            as a whole.
        message: what to write instead.
    """

    file: str
    key: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}: {self.key}" if self.key else self.file
        return f"{place}: {self.message}"


class ConfigError(Exception):
    """A configuration that cannot be used; `faults` holds every fault found, in file order."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


def dotted(path: Iterable[str | int]) -> str:
    """A key path as TOML writes it: names joined by dots, quoted where needed, `[0]` for items."""
    out = ""
    for part in path:
        if isinstance(part, int):
            out += f"[{part}]"
            continue
        name = part if _BARE.fullmatch(part) else _quoted(part)
        out += f".{name}" if out else name
    return out


def _quoted(name: str) -> str:
    visible = "".join(c if c.isprintable() and c not in '"\\' else f"\\u{ord(c):04x}" for c in name)
    return f'"{visible}"'

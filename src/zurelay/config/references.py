"""Values that stand elsewhere: `"$NAME"` in the environment, `"file:/path"` in a file.

Replaces them in a parsed TOML document before any setting is read. Knows no settings. Faults name
the variable or the file, never what was found there.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from zurelay.config.faults import Fault, dotted
from zurelay.config.values import UNRESOLVED, Outside

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MOST_BYTES = 65_536


@dataclass(slots=True)
class References:
    """Resolves one document.

    Attributes:
        file: its name in faults.
        folder: where relative `file:` paths start.
        environ: the environment.
        faults: what could not be resolved.
        sources: the files that were read.
    """

    file: str
    folder: Path
    environ: Mapping[str, str]
    faults: list[Fault] = field(default_factory=list)
    sources: list[Path] = field(default_factory=list)

    def resolve(self, value: object, path: tuple[str | int, ...] = ()) -> object:
        """The value with every reference below it replaced, by UNRESOLVED where it led nowhere."""
        match value:
            case dict():
                return {key: self.resolve(item, (*path, key)) for key, item in value.items()}
            case list():
                return [self.resolve(item, (*path, at)) for at, item in enumerate(value)]
            case str() if value.startswith("$$"):
                return value[1:]
            case str() if value.startswith("$"):
                return self._variable(value[1:], path)
            case str() if value.startswith("file:"):
                return self._file(value[5:], path)
            case _:
                return value

    def _variable(self, name: str, path: tuple[str | int, ...]) -> object:
        if not _NAME.fullmatch(name):
            return self._fault(
                path,
                'after $ comes the name of an environment variable, such as "$OPENAI_API_KEY"; a'
                ' text that begins with $ is written with "$$"',
            )
        found = self.environ.get(name)
        if not found:
            state = "is not set" if found is None else "is empty"
            return self._fault(
                path,
                f"the environment variable {name} {state}; set it before the start, or write the"
                " value here",
            )
        return Outside(found)

    def _file(self, name: str, path: tuple[str | int, ...]) -> object:
        place = self.folder / name
        if not name:
            return self._fault(path, 'after file: comes a path, such as "file:/run/secrets/key"')
        self.sources.append(place)
        try:
            with place.open("rb") as opened:
                content = opened.read(_MOST_BYTES + 1)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "no usable path"
            return self._fault(path, f"the file {place} cannot be read: {reason}")
        if len(content) > _MOST_BYTES:
            return self._fault(path, f"the file {place} is larger than 64 KB; it holds one value")
        try:
            found = content.decode().strip("\r\n")
        except UnicodeDecodeError:
            return self._fault(path, f"the file {place} is not UTF-8 text")
        if not found:
            return self._fault(path, f"the file {place} is empty; write the value into it")
        return Outside(found)

    def _fault(self, path: tuple[str | int, ...], message: str) -> object:
        self.faults.append(Fault(self.file, dotted(path), message))
        return UNRESOLVED

"""What `zurelay serve` tells a person once it listens. Pure text; knows no terminal."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from zurelay.cli.terminal import counted

_QUESTION = '{"role": "user", "content": "Hello"}'


@dataclass(frozen=True, slots=True)
class Provider:
    """A line about a provider, and how many models it reaches."""

    name: str
    kind: str
    models: int


@dataclass(frozen=True, slots=True)
class Banner:
    """What is told.

    Attributes:
        base_url: without `/v1`.
        origin: where the settings came from, for people.
        key: text of the first key, where it may be shown.
        key_file: where the first key lies instead.
        link: opens the console as its first owner, where it may be shown.
        command: how this shell calls the command line, `.venv/bin/zurelay` where no folder of its
            search path has it.
    """

    product: str
    version: str
    base_url: str
    origin: str
    example_model: str
    providers: Sequence[Provider] = field(default_factory=tuple)
    key: str | None = None
    key_file: str | None = None
    link: str | None = None
    workers: int = 1
    command: str = "zurelay"


def banner(info: Banner) -> str:
    """The lines, with a curl call that works when pasted."""
    lines = [f"{info.product} {info.version}", ""]
    lines.append(f"  Base URL   {info.base_url}/v1")
    if info.link is not None:
        lines.append(f"  Console    {info.link}")
        lines.append(
            "             It signs you in, once and within an hour."
            f" Another: {info.command} console link"
        )
    else:
        lines.append(f"  Console    {info.base_url}/console")
    if info.key is not None:
        lines.append(f"  API key    {info.key}")
        lines.append(
            "             It is the first one and is shown only now."
            f" More: {info.command} keys create NAME"
        )
    elif info.key_file is not None:
        lines.append(f"  API key    in {info.key_file}")
    lines.append(f"  Guide      {info.base_url}/docs")
    lines.append(f"  Settings   {info.origin}")
    if info.workers > 1:
        lines.append(f"  Workers    {info.workers}")
    lines += _providers(info.providers)
    lines += ["", "  Try it:", "", *(f"  {line}" for line in curl(info)), ""]
    return "\n".join(lines)


def curl(info: Banner) -> list[str]:
    """A call to paste into a shell."""
    if info.key is not None:
        shown = info.key
    elif info.key_file is not None:
        shown = f"$(cat {_quoted(info.key_file)})"
    else:
        shown = "$ZURELAY_API_KEY"
    body = f'{{"model": "{info.example_model}", "messages": [{_QUESTION}]}}'
    return [
        f"curl {info.base_url}/v1/chat/completions \\",
        f'  -H "Authorization: Bearer {shown}" \\',
        '  -H "Content-Type: application/json" \\',
        f"  -d '{body}'",
    ]


def _providers(providers: Sequence[Provider]) -> list[str]:
    if not providers:
        return ["  Providers  none"]
    width = max(len(one.name) for one in providers)
    lines = []
    for place, one in enumerate(providers):
        heading = "Providers" if place == 0 else ""
        kind = "" if one.kind == one.name else f"{one.kind}, "
        reach = counted(one.models, "model")
        lines.append(f"  {heading:<9}  {one.name:<{width}}  {kind}{reach}")
    return lines


def _quoted(path: str) -> str:
    """The path inside double quotes of a shell's command substitution."""
    return "'" + path.replace("'", "'\\''") + "'"

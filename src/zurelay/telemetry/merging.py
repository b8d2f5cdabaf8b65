"""One scrape made of several processes' own: each sample gets a label that says whose it is.

Pure text in the Prometheus exposition format, in which the samples of one family stand together.
Knows no process.
"""

from collections.abc import Mapping


def merged(scrapes: Mapping[str, bytes], label: str) -> bytes:
    """The scrapes as one.

    Args:
        scrapes: the value of the label -> what that process tells.
        label: its name; no scrape has it yet.
    """
    heads: dict[bytes, list[bytes]] = {}
    samples: dict[bytes, list[bytes]] = {}
    for value, text in scrapes.items():
        own = f'{label}="{value}"'.encode()
        family, told = b"", False
        for line in text.split(b"\n"):
            if line.startswith((b"# HELP ", b"# TYPE ")):
                name = line.split(b" ", 3)[2]
                if name != family:
                    family, told = name, name in heads
                if not told:
                    heads.setdefault(family, []).append(line)
            elif line and not line.startswith(b"#"):
                samples.setdefault(family, []).append(_labelled(line, own))
    lines = [line for family, head in heads.items() for line in (*head, *samples.get(family, ()))]
    return b"\n".join([*lines, b""])


def _labelled(sample: bytes, own: bytes) -> bytes:
    name, brace, rest = sample.partition(b"{")
    if not brace:
        name, _, value = sample.partition(b" ")
        return b"%s{%s} %s" % (name, own, value)
    return b"%s{%s%s%s" % (name, own, b"" if rest.startswith(b"}") else b",", rest)

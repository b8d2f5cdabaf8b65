"""Settings of the log, and of messages stored beside it. Part of the schema of settings."""

from dataclasses import dataclass
from typing import Literal

from zurelay.config import values as v
from zurelay.config.schema import setting

SHORTEST_CONTENT_KEY = 32
"""Characters; `openssl rand -hex 32` gives 64."""


def _content_key(example: str) -> v.Type:
    plain = v.secret(example)

    def read(value: object) -> str:
        found: str = plain.read(value)
        if len(found) < SHORTEST_CONTENT_KEY:
            raise v.wrong(
                f"it has {len(found)} characters; take {SHORTEST_CONTENT_KEY} or more that nobody"
                " can guess, such as `openssl rand -hex 32` gives"
            )
        return found

    return v.Type(plain.title, read, secret=True)


@dataclass(frozen=True, slots=True)
class Log:
    """The gateway's own log and the request log."""

    level: Literal["debug", "info", "warning", "error"] = setting(
        v.choice("debug", "info", "warning", "error"), "info", "The least serious line written."
    )
    format: Literal["auto", "json", "console"] = setting(
        v.choice("auto", "json", "console"),
        "auto",
        '"console" is for people, "json" for machines; "auto" decides by whether stderr is a'
        " terminal.",
        restart=True,
    )
    retention_days: int = setting(
        v.whole(0, 36_500, 90), 90, "How long rows of the request log are kept; 0 keeps them all."
    )
    content_key: str = setting(
        _content_key("$ZURELAY_CONTENT_KEY"),
        "",
        "Encrypts the messages of keys that have them stored: 32 characters or more, such as"
        " `openssl rand -hex 32` gives. Without it no messages are stored. The same on all nodes.",
        shown="none: nothing is stored",
    )
    content_previous_keys: tuple[str, ...] = setting(
        v.listing(_content_key("$OLD_CONTENT_KEY"), '"$OLD_CONTENT_KEY"'),
        (),
        "What content_key was before: messages stored then stay readable.",
    )

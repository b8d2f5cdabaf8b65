"""How the command line is let in on the same machine: by a token in the data folder.

The token is made anew at every start, known to this process only, and goes with it. Whoever may
read the data folder owns the gateway anyway.
"""

import secrets
from pathlib import Path

from zurelay.access.keys import RANDOM_BYTES
from zurelay.access.tokens import make_token
from zurelay.app.first_start import write_private
from zurelay.live.tokens import TokenRing

FILE = "admin-token"
"""Two lines: the token, and the address it is good for."""


def let_in(data: Path, tokens: TokenRing, base_url: str) -> None:
    """Make the token, readable by the folder's owner only."""
    text = make_token(secrets.token_bytes(RANDOM_BYTES))
    tokens.own(text)
    keep(data, text, base_url)


def keep(data: Path, token: str, base_url: str) -> None:
    """Leave a token where commands look for it."""
    path = data / FILE
    path.unlink(missing_ok=True)  # an older file may have had other permissions
    write_private(path, f"{token}\n{base_url}\n")


def forget(data: Path) -> None:
    """The process ends: its token is good for nothing."""
    (data / FILE).unlink(missing_ok=True)


def read(data: Path) -> tuple[str, str] | None:
    """The token of the gateway that runs on this folder, and its address; None without one."""
    try:
        token, base_url = (data / FILE).read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return None
    return token, base_url

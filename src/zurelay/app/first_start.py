"""What a new data folder needs before the first request: an account and a key."""

import os
from pathlib import Path

from zurelay.access.keys import RANDOM_BYTES, Key, hash_key, last4, make_key
from zurelay.office.desk import Desk
from zurelay.office.rights import Actor
from zurelay.store.accounts import DEFAULT, ensure_account
from zurelay.store.engine import Store
from zurelay.store.keys import add_key, list_keys

FIRST_KEY_FILE = "first-key"


def ensure_first_key(store: Store, now: float) -> str | None:
    """Make the account `default` and, where there is no key at all, the first one.

    Returns the text of a key made now, None otherwise.
    """
    desk = Desk(store, clock=lambda: now)
    with desk.change(Actor("gateway", "owner"), "keys.change") as change:
        connection = change.connection
        account = ensure_account(connection, DEFAULT, desk.random_id("acct_"), now)
        if list_keys(connection):
            change.did_nothing()
            return None
        text = make_key(desk.random(RANDOM_BYTES))
        key = Key(
            id=desk.random_id("key_"),
            name="first key",
            account=account.id,
            account_name=account.name,
            hash=hash_key(text),
            last4=last4(text),
            created=int(now),
        )
        add_key(connection, key)
        change.did("key.create", key.id, account.id, {"name": key.name})
    return text


def write_first_key(data: Path, text: str) -> Path:
    """Keep the first key in a file only its owner can read, for starts without a terminal."""
    path = data / FIRST_KEY_FILE
    write_private(path, f"{text}\n")
    return path


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read."""
    handle = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(text)

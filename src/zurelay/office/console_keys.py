"""The key under which the console itself asks models, for the playground: one for each account.

It stands in the list of keys and is limited, budgeted and revoked like any other. Its text is
thrown away as it is made, so that nobody can ever show it to the gateway.
"""

from typing import Final

from sqlalchemy import Connection

from zurelay.access.accounts import Account
from zurelay.access.keys import CONSOLE_ID, RANDOM_BYTES, Key, hash_key, last4, make_key
from zurelay.office.accounts import the_account
from zurelay.office.desk import Desk
from zurelay.office.keys import terms
from zurelay.office.rights import Actor
from zurelay.store.console_keys import console_keys
from zurelay.store.keys import add_key

NAME: Final = "Playground"


def console_key(desk: Desk, actor: Actor, account: str) -> Key:
    """The account's key for the console; made where there is none that works.

    Raises:
        Refused: 403; 404 for an account that does not exist for the actor.
    """
    actor.needs("keys.change")
    with desk.read(actor, "keys.read") as connection:
        found = _working(desk, connection, the_account(connection, actor, account))
    if found is not None:
        return found
    with desk.change(actor, "keys.change") as change:
        owner = the_account(change.connection, actor, account)
        found = _working(desk, change.connection, owner)
        if found is not None:
            change.did_nothing()
            return found
        text = make_key(desk.random(RANDOM_BYTES))
        key = Key(
            id=desk.random_id(CONSOLE_ID),
            name=NAME,
            account=owner.id,
            account_name=owner.name,
            hash=hash_key(text),
            last4=last4(text),
            created=int(change.now),
            owner=owner,
        )
        add_key(change.connection, key)
        change.did("key.create", key.id, key.account, terms(key))
        return key


def _working(desk: Desk, connection: Connection, account: Account) -> Key | None:
    """A stopped account's key counts: asking with it tells why not."""
    now = desk.clock()
    found = console_keys(connection, account, CONSOLE_ID)
    return next((key for key in found if key.state(now) != "expired"), None)

"""What to call those whom the audit log and other records name by their ids."""

from collections.abc import Iterable

from sqlalchemy import Connection

from zurelay.office.desk import Desk
from zurelay.office.rights import Actor
from zurelay.store.accounts import find_account
from zurelay.store.errors import StoreError
from zurelay.store.keys import find_key
from zurelay.store.people import names_of_people

_PERSON = "person:"


def names_of(desk: Desk, actor: Actor, told: Iterable[str]) -> dict[str, str]:
    """A name for each person among those, by how they were told; others stay as they are.

    An actor of one account learns the names of its members only.
    """
    ids = {one.removeprefix(_PERSON) for one in told if one.startswith(_PERSON)}
    if not ids:
        return {}
    with desk.store.read() as connection:
        found = names_of_people(connection, ids, actor.account)
    return {f"{_PERSON}{id_}": name for id_, name in found.items() if name}


def spender(connection: Connection, account: str, key: str | None) -> str:
    """What to call an account, or a key of it; by its id, what is no longer there."""
    found = find_account(connection, account)
    name = account if found is None else found.name
    if key is None:
        return name
    try:
        return f"{name}, {find_key(connection, key).name}"
    except StoreError:
        return f"{name}, {key}"

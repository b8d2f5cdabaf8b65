import pytest
from sqlalchemy import select

from tests.store.test_tokens import a_token
from zurelay.store import schema
from zurelay.store.counters import ACCESS, read_counter
from zurelay.store.engine import Store
from zurelay.store.errors import StoreError
from zurelay.store.named import check_name, one_row, revoke_row
from zurelay.store.tokens import add_token

TABLE = schema.admin_token


@pytest.mark.parametrize("name", ["a", "Ana's key", "x" * 200])
def test_names_that_can_be_one(name: str) -> None:
    check_name("a key's", name)


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\nb", "\x07"])
def test_names_that_cannot(name: str) -> None:
    with pytest.raises(StoreError, match="a key's name has 1 to 200 printable characters"):
        check_name("a key's", name)


def test_a_whole_id_goes_before_a_prefix_and_a_prefix_before_a_name(store: Store) -> None:
    made = [
        a_token(1, id="tok_a", name="one"),
        a_token(2, id="tok_ab", name="two"),
        a_token(3, id="tok_c", name="tok_ab"),
    ]
    with store.write() as connection:
        for token in made:
            add_token(connection, token)
        for wanted, id_ in (("tok_a", "tok_a"), ("tok_ab", "tok_ab"), ("c", "tok_c")):
            row = one_row(connection, select(TABLE), TABLE, wanted, "tok_", "token")
            assert row["id"] == id_
        with pytest.raises(StoreError, match="several tokens match 'a'; give the whole id"):
            one_row(connection, select(TABLE), TABLE, "a", "tok_", "token")
        with pytest.raises(StoreError, match="'z'; see 'zurelay tokens list'"):
            one_row(connection, select(TABLE), TABLE, "z", "tok_", "token")


def test_revoking_a_row_tells_servers(store: Store) -> None:
    with store.write() as connection:
        add_token(connection, a_token(1))
        before = read_counter(connection, ACCESS)
        revoke_row(connection, TABLE, a_token(1).id, 5.9)
        assert read_counter(connection, ACCESS) == before + 1
        assert connection.execute(select(TABLE.c.revoked)).scalar_one() == 5

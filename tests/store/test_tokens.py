from pathlib import Path

import pytest

from zurelay.access.keys import hash_key, last4
from zurelay.access.tokens import AdminToken, make_token
from zurelay.store.counters import ACCESS, read_counter
from zurelay.store.engine import Store
from zurelay.store.errors import StoreError
from zurelay.store.tokens import add_token, find_token, list_tokens, revoke_token


def a_token(seed: int, **changes: object) -> AdminToken:
    text = make_token(seed.to_bytes(32, "big"))
    fields: dict[str, object] = {
        "id": f"tok_{seed:016x}",
        "name": f"token {seed}",
        "role": "admin",
        "hash": hash_key(text),
        "last4": last4(text),
        "created": 1000 + seed,
    }
    return AdminToken(**(fields | changes))  # type: ignore[arg-type]


def test_a_token_comes_back_as_it_was_made(store: Store) -> None:
    made = [a_token(1), a_token(2, role="read-only"), a_token(3, role="owner", revoked=9)]
    made.append(a_token(4, role="member", account="acct_1"))
    with store.write() as connection:
        for token in made:
            add_token(connection, token)
    with store.read() as connection:
        assert list_tokens(connection) == made


def test_a_tokens_text_is_nowhere_in_the_folder(store: Store, tmp_path: Path) -> None:
    with store.write() as connection:
        add_token(connection, a_token(7))
    secret = make_token((7).to_bytes(32, "big"))[4:-6].encode()
    assert not any(secret in path.read_bytes() for path in (tmp_path / "data").iterdir())


def test_a_token_is_found_by_id_prefix_or_name(store: Store) -> None:
    one, two = a_token(1, id="tok_ab1"), a_token(2, id="tok_ab2", name="tok_%")
    with store.write() as connection:
        add_token(connection, one)
        add_token(connection, two)
        for wanted in ("tok_ab1", "ab1", "token 1"):
            assert find_token(connection, wanted) == one
        assert find_token(connection, "tok_%") == two
        for wanted, why in (("ab", "several"), ("c", "no token"), ("%", "no token")):
            with pytest.raises(StoreError, match=why):
                find_token(connection, wanted)


def test_making_and_revoking_tell_servers_once(store: Store) -> None:
    with store.write() as connection:
        before = read_counter(connection, ACCESS)
        add_token(connection, a_token(1))
        assert revoke_token(connection, "token 1", 2000.7).revoked == 2000
        assert revoke_token(connection, "token 1", 3000).revoked == 2000
        assert read_counter(connection, ACCESS) == before + 2


@pytest.mark.parametrize("name", ["", " ", "a\x1b[31m", "x" * 201])
def test_a_name_that_would_spoil_a_table_is_refused(store: Store, name: str) -> None:
    with pytest.raises(StoreError, match="name"), store.write() as connection:
        add_token(connection, a_token(1, name=name))

from dataclasses import replace

import pytest
from sqlalchemy.exc import IntegrityError

from tests.store.rows import ACCOUNT
from zurelay.store.engine import Store
from zurelay.store.transfers import (
    Transfer,
    add_transfer,
    find_transfer,
    list_transfers,
    refunded,
    take_available,
    transfers_between,
    transfers_of,
)
from zurelay.store.wallets import account_balance, add_available, balance

ONE = Transfer("xfer_1", 1000, ACCOUNT.id, "credit", 2**60, None, "inv-1", "note", "cli:a")
REFUND = replace(ONE, id="xfer_2", at_ms=2000, kind="refund", amount=5, request="req_1", ref="r")


def test_transfers_come_back_as_they_were_written(store: Store) -> None:
    with store.write() as connection:
        add_transfer(connection, ONE)
        add_transfer(connection, REFUND)
        add_transfer(connection, replace(REFUND, id="xfer_3", ref="r2", amount=7))
    with store.read() as connection:
        assert find_transfer(connection, "inv-1") == ONE
        assert find_transfer(connection, "x") is None
        listed = list_transfers(connection, ACCOUNT.id, None, 5)
        assert [one.id for one in listed] == ["xfer_3", "xfer_2", "xfer_1"]
        assert list_transfers(connection, "acct_x", None, 5) == []
        assert list_transfers(connection, None, (2000, "xfer_2"), 5) == [ONE]
        assert transfers_between(connection, ACCOUNT.id, 1000, 2000) == [ONE]
        assert refunded(connection, "req_1") == 12
        assert [one.id for one in transfers_of(connection, "req_1")] == ["xfer_3", "xfer_2"]
        assert transfers_of(connection, "req_2") == []
        assert refunded(connection, "req_2") == 0


def test_a_ref_is_taken_once(store: Store) -> None:
    with pytest.raises(IntegrityError), store.write() as connection:
        add_transfer(connection, ONE)
        add_transfer(connection, replace(ONE, id="xfer_9"))


def test_only_what_is_there_is_taken(store: Store) -> None:
    wallet = account_balance(ACCOUNT.id)
    with store.write() as connection:
        assert not take_available(connection, wallet.id, 1)
        add_available(connection, wallet, 10)
        assert not take_available(connection, wallet.id, 11)
        assert take_available(connection, wallet.id, 10)
        assert balance(connection, wallet.id) == 0

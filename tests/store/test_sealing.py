"""What is sealed opens only with its key, for its name, unchanged."""

import pytest

from zurelay.store.sealing import Sealer, UnreadableError

NEW, OLD = "n" * 32, "o" * 32
TEXT = b"the moon is full of cheese " * 50


def test_it_opens_as_it_was_and_is_not_readable_before() -> None:
    sealed = Sealer([NEW]).seal("req_1", TEXT)
    assert Sealer([NEW]).open("req_1", sealed) == TEXT
    assert b"moon" not in sealed
    assert len(sealed) < len(TEXT)


def test_each_time_looks_another() -> None:
    sealer = Sealer([NEW])
    assert sealer.seal("req_1", TEXT) != sealer.seal("req_1", TEXT)


def test_after_a_change_of_keys_the_old_ones_still_open() -> None:
    old = Sealer([OLD]).seal("req_1", TEXT)
    both = Sealer([NEW, OLD])
    assert both.open("req_1", old) == TEXT
    new = both.seal("req_1", TEXT)
    assert Sealer([NEW]).open("req_1", new) == TEXT
    with pytest.raises(UnreadableError) as raised:
        Sealer([OLD]).open("req_1", new)
    assert not raised.value.known


def test_it_opens_for_no_other_name() -> None:
    sealed = Sealer([NEW]).seal("req_1", TEXT)
    with pytest.raises(UnreadableError) as raised:
        Sealer([NEW]).open("req_2", sealed)
    assert raised.value.known


def test_a_changed_bit_is_seen_wherever_it_is() -> None:
    sealer = Sealer([NEW])
    sealed = sealer.seal("req_1", b"short")
    for place in range(len(sealed)):
        broken = bytearray(sealed)
        broken[place] ^= 1
        with pytest.raises(UnreadableError):
            sealer.open("req_1", bytes(broken))
    for size in (0, 1, 5, 17, len(sealed) - 1):
        with pytest.raises(UnreadableError):
            sealer.open("req_1", sealed[:size])

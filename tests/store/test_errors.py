from zurelay.store.errors import StoreError


def test_its_text_is_what_an_operator_reads() -> None:
    assert str(StoreError("zurelay.db: disk is full")) == "zurelay.db: disk is full"

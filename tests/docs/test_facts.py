from zurelay.docs.facts import Facts

TEXT = "`http://127.0.0.1:8000/v1`, port 8100: `x-zurelay-model`, `zurelay-auto`, ZURELAY_API_KEY"


def test_the_gateways_own_address_is_filled_in() -> None:
    facts = Facts("B", "zurelay", "https://ai.example.com", "m", ())
    assert facts.filled(TEXT) == TEXT.replace("http://127.0.0.1:8000", "https://ai.example.com")


def test_so_are_the_names_on_the_wire_where_they_are_others() -> None:
    facts = Facts("B", "acme", "http://127.0.0.1:8000", "m", ())
    assert facts.filled(TEXT) == (
        "`http://127.0.0.1:8000/v1`, port 8100: `x-acme-model`, `acme-auto`, ZURELAY_API_KEY"
    )

import gzip

from tests.docs.test_library import FACTS
from zurelay.docs.addresses import Address
from zurelay.docs.edition import Edition


def test_what_was_made_is_kept_by_theme_where_that_matters() -> None:
    edition = Edition(FACTS)
    page = Address("page", "en", "streaming")
    assert edition.kept(page, "dark") is None
    dark = edition.answer(page, "dark")
    assert edition.kept(page, "dark") is edition.answer(page, "dark") is dark
    light = edition.answer(page, "light")
    assert (b'data-theme="dark"' in dark.body, b'data-theme="light"' in light.body) == (True, True)
    assert dark.tag != light.tag
    assert gzip.decompress(dark.gzipped) == dark.body
    plain = Address("markdown", "en", "streaming")
    assert edition.answer(plain, "dark") is edition.answer(plain, "light")


def test_every_kind_has_its_type() -> None:
    edition = Edition(FACTS)
    types = {
        "page": "text/html; charset=utf-8",
        "start": "text/html; charset=utf-8",
        "markdown": "text/markdown; charset=utf-8",
        "index": "text/plain; charset=utf-8",
        "full": "text/plain; charset=utf-8",
        "search": "application/json",
    }
    for kind, media_type in types.items():
        name = "streaming" if kind in ("page", "markdown") else ""
        answer = edition.answer(Address(kind, "fr", name), "system")  # type: ignore[arg-type]
        assert answer.media_type == media_type
        assert answer.body


def test_what_leads_nowhere_is_made_anew_each_time() -> None:
    edition = Edition(FACTS)
    assert "/docs/en/streaming" in edition.missing("en", "/docs/streeming", "dark")
    assert edition.missing("nl", "/docs/<script>", "dark").count("<script>") == 0

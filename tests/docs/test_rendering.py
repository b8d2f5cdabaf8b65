import re
from dataclasses import replace
from pathlib import Path

import pytest

from scripts import catalogues
from tests.docs.test_library import FACTS
from zurelay.docs import library, rendering
from zurelay.docs.facts import Facts
from zurelay.docs.levels import Levels
from zurelay.docs.library import Library
from zurelay.docs.menu import PAGES


def test_a_page_has_its_head_in_every_language() -> None:
    for code, words in (("en", "On this page"), ("nl", "Op deze pagina"), ("fr", "Sur cette page")):
        html = rendering.page(Library(FACTS), code, "streaming", "dark")
        assert f'<html lang="{code}" data-theme="dark">' in html
        assert words in html
        assert f'<link rel="canonical" href="https://ai.example.com/docs/{code}/streaming">' in html
        for other in ("en", "nl", "fr"):
            address = f"https://ai.example.com/docs/{other}/streaming"
            assert f'hreflang="{other}" href="{address}"' in html
        assert 'hreflang="x-default" href="https://ai.example.com/docs/streaming"' in html
        assert (
            f'type="text/markdown" href="https://ai.example.com/docs/{code}/streaming.md"' in html
        )
        assert html.count("<h1>") == 1
        assert html.count('aria-current="page"') == 1


def test_only_a_page_without_a_public_address_says_what_the_reader_may_put_another_for() -> None:
    here = replace(FACTS, base_url="http://127.0.0.1:8017", is_public=False)
    status = {"version": "1", "draining": False, "models": 1, "providers": 1}
    for facts, local in ((FACTS, False), (here, True)):
        library = Library(facts)
        for html in (
            rendering.page(library, "en", "streaming", "dark"),
            rendering.start(library, "en", "dark"),
            rendering.front(library, "en", "dark", status),
        ):
            assert ('data-local="http://127.0.0.1:8017"' in html) is local
            assert ("/docs/assets/origin." in html) is local
            assert ("data-local" in html) is local


def test_no_page_has_anything_inline_and_every_id_once() -> None:
    for name in PAGES:
        html = rendering.page(Library(FACTS), "fr", name, "system")
        assert re.findall(r"<style|<script(?! src=)| style=| on[a-z]+=", html) == []
        ids = re.findall(r' id="([^"]+)"', html)
        assert len(ids) == len(set(ids)), name


def test_the_key_field_is_there_where_samples_have_a_place_for_it() -> None:
    html = rendering.page(Library(FACTS), "en", "quickstart", "system")
    assert 'id="reader-key"' in html
    assert 'name="' not in re.findall(r"<input id=\"reader-key\"[^>]*>", html)[0]


def test_a_page_that_is_not_translated_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "streaming.md").write_text("# Streaming\n\nOne.\n\n## Two\n\n## Three")
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    library.written_pages.cache_clear()
    monkeypatch.setattr(rendering, "beside", lambda _: (None, None))
    html = rendering.page(Library(FACTS), "nl", "streaming", "system")
    library.written_pages.cache_clear()
    assert "nog niet in uw taal" in html
    assert '<article class="page" lang="en">' in html
    assert 'rel="canonical" href="https://ai.example.com/docs/en/streaming"' in html


def test_the_start_leads_to_every_page() -> None:
    html = rendering.start(Library(FACTS), "en", "system")
    cards = html.partition('class="cards-of-pages"')[2]
    assert [f"/docs/en/{page}" in cards for page in PAGES].count(False) == 0
    assert "https://ai.example.com/v1" in html
    assert "sandbox/echo" in html


def test_brand_and_facts_are_escaped() -> None:
    facts = Facts("<b>Brand</b>", "zurelay", "https://x.example/<i>", "<m>", ())
    for html in (
        rendering.start(Library(facts), "en", "system"),
        rendering.page(Library(facts), "en", "quickstart", "system"),
        rendering.missing(Library(facts), "en", "/docs/<u>", "system"),
    ):
        assert re.findall(r"<b>Brand|<i>|<m>|<u>", html) == []


def test_many_models_are_folded_by_vendor_and_can_be_filtered() -> None:
    rows = tuple(
        Levels(f"m{n}", (f"v{n % 3}",), ("low", "high"), "high", "low", "low high*")
        for n in range(60)
    )
    plain = Levels("plain", ("v0",), (), None, "off", "")
    facts = Facts("B", "zurelay", "https://x.example", "m", (*rows, plain))
    html = rendering.page(Library(facts), "en", "reasoning", "system")
    assert html.count("<details") - html.count('<details class="contents') == 3
    assert html.count("<details open>") == 1
    assert "data-filter>" in html
    assert html.count("<strong>high") == 60
    assert "These do not think: " in re.sub(r"<[^>]+>", "", html)
    few = Facts("B", "zurelay", "https://x.example", "m", rows[:2])
    html = rendering.page(Library(few), "en", "reasoning", "system")
    assert "data-filter>" not in html
    assert html.count("<details open>") == 2


def test_every_text_is_in_all_three_languages_and_none_is_left_over() -> None:
    said = {text for _, _, text in catalogues.texts(catalogues.DOCS)}
    for language, words in catalogues.catalogues("docs").items():
        assert [text for text in said if catalogues.missing(words, text)] == [], language
    for language in catalogues.LANGUAGES:
        kept = {message.id for message in catalogues.read(language, "docs") if message.id}
        assert kept - said == set()


def test_no_template_marks_anything_as_safe() -> None:
    for path in rendering.FOLDER.glob("*.html"):
        found = re.search(r"\|\s*safe\b|autoescape|style=|<script>| on[a-z]+=", path.read_text())
        assert found is None, path.name

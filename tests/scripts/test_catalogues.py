from pathlib import Path

import pytest

from scripts import catalogues


@pytest.fixture
def console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A console with two page modules."""
    (tmp_path / "templates").mkdir()
    (tmp_path / "keys.py").write_text('N_("One")\nvisit.gettext("Two")\n\nPAGES = ()\n')
    (tmp_path / "keys_old.py").write_text(
        'x.ngettext("%(num)s a", "%(num)s as", 1)\n\nPAGES = ()\n'
    )
    (tmp_path / "parts.py").write_text('gettext("Shared")\n')
    (tmp_path / "templates" / "keys_new.html").write_text(
        '{{ _("Three %(x)s", x=1) }}{{ _("Two") }}'
    )
    (tmp_path / "templates" / "base.html").write_text('{{ _("Shared") }}')
    monkeypatch.setattr(catalogues, "CONSOLE", tmp_path)
    return tmp_path


def po(console: Path, language: str, module: str) -> Path:
    return console / "locale" / language / f"{module}.po"


def test_a_text_belongs_to_the_page_module_its_file_is_named_after(console: Path) -> None:
    modules = catalogues.page_modules()
    assert modules == ["keys", "keys_old"]
    for name, module in (
        ("keys.py", "keys"),
        ("keys_new.html", "keys"),
        ("keys_old.html", "keys_old"),
        ("keystone.html", "shared"),
        ("base.html", "shared"),
    ):
        assert catalogues.module_of(Path(name), modules) == module


def test_new_texts_come_with_an_empty_translation_and_old_ones_go(console: Path) -> None:
    assert catalogues.update("keys") == 6  # three texts in two languages
    path = po(console, "nl", "keys")
    text = path.read_text()
    assert text.count('msgstr ""') == 3
    path.write_text(
        text.replace('msgid "One"\nmsgstr ""', 'msgid "One"\nmsgstr "Een"')
        + 'msgid "Gone"\nmsgstr "Weg"\n'
    )
    assert catalogues.update("keys") == 5
    assert 'msgstr "Een"' in path.read_text()
    assert "Gone" not in path.read_text()


def test_plural_texts_need_all_their_forms(console: Path) -> None:
    assert catalogues.update("keys_old") == 2
    words = {("%(num)s a", "%(num)s as"): ("een", "")}
    assert catalogues.missing(dict(words), ("%(num)s a", "%(num)s as"))
    assert not catalogues.missing({("a", "b"): ("x", "y")}, ("a", "b"))


def test_what_another_module_translates_is_not_asked_again(console: Path) -> None:
    path = po(console, "nl", "shared")
    path.parent.mkdir(parents=True)
    path.write_text('msgid "Two"\nmsgstr "Twee"\n')
    catalogues.update("keys")
    assert '"Two"' not in po(console, "nl", "keys").read_text()
    assert '"Two"' in po(console, "fr", "keys").read_text()
    assert catalogues.catalogues()["nl"]["Two"] == "Twee"


def test_the_guides_site_may_use_the_consoles_words(
    console: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = console / "docs"
    docs.mkdir()
    (docs / "menu.py").write_text('N_("One")\nN_("Start")\n')
    monkeypatch.setattr(catalogues, "DOCS", docs)
    catalogues.update("keys")
    path = po(console, "nl", "keys")
    path.write_text(path.read_text().replace('msgid "One"\nmsgstr ""', 'msgid "One"\nmsgstr "Een"'))
    assert catalogues.update("docs") == 3  # both in French, one in Dutch
    written = (docs / "locale" / "nl" / "docs.po").read_text()
    assert ('"Start"' in written, '"One"' in written) == (True, False)
    assert ("One" in catalogues.catalogues()["nl"], "Start" in catalogues.catalogues()["nl"]) == (
        True,
        False,
    )
    assert "Start" in catalogues.catalogues("docs")["nl"]


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("Non : « l'an » !", "Non\u00a0: «\u00a0l\u2019an\u00a0»\u00a0!"),
        ("10 000 jetons, 90 %% ; %(a)s %(b)s", "10\u00a0000 jetons, 90\u00a0%%\u00a0; %(a)s %(b)s"),
        ("<code>a : 'b'</code> ?", "<code>a : 'b'</code>\u00a0?"),
    ],
)
def test_french_gets_its_spaces_and_its_apostrophe(typed: str, printed: str) -> None:
    assert catalogues.typeset(typed) == printed
    assert catalogues.typeset(printed) == printed


def test_french_that_was_typed_with_plain_spaces_is_set_when_a_catalogue_is_written(
    console: Path,
) -> None:
    catalogues.update("keys")
    for language in ("nl", "fr"):
        path = po(console, language, "keys")
        path.write_text(
            path.read_text().replace('msgid "One"\nmsgstr ""', 'msgid "One"\nmsgstr "Un : l\'un"')
        )
    catalogues.update("keys")
    assert 'msgstr "Un\u00a0: l\u2019un"' in po(console, "fr", "keys").read_text()
    assert "Un : l'un" in po(console, "nl", "keys").read_text()

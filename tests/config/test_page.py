from pathlib import Path

from zurelay.config.page import page
from zurelay.config.schema import settings_of
from zurelay.config.settings import NAMED_TABLES, TABLES

PAGE = Path(__file__).parents[2] / "docs/operate/settings.md"


def test_the_page_in_the_repository_is_current() -> None:
    assert PAGE.read_text() == page(), (
        "run: python -m zurelay.config.page > docs/operate/settings.md"
    )


def test_every_setting_says_what_it_does() -> None:
    for table in (*TABLES.values(), *NAMED_TABLES.values()):
        for one in settings_of(table):
            assert len(one.doc) > 10, one.name
            assert one.doc.rstrip(").").strip(), one.name
            assert f"| `{one.name}` |" in page()


def test_no_cell_of_the_page_breaks_its_table() -> None:
    for line in page().splitlines():
        if line.startswith("| `"):
            assert line.count("|") == 5, line

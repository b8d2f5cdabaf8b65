import pytest

from scripts.generate_docs import ROOT, TABLES, rewritten


@pytest.mark.parametrize("name", TABLES)
def test_the_documents_tables_say_what_the_code_says(name: str) -> None:
    path, table = TABLES[name]
    text = (ROOT / path).read_text(encoding="utf-8")
    assert text == rewritten(text, name, table()), "run: python -m scripts.generate_docs"


def test_only_what_stands_between_the_markers_is_rewritten() -> None:
    text = "before\n<!-- generated: t -->\nold\n<!-- end -->\nafter <!-- end -->\n"
    made = rewritten(text, "t", iter(["a", r"\1"]))
    assert made == "before\n<!-- generated: t -->\na\n\\1\n<!-- end -->\nafter <!-- end -->\n"


def test_a_document_without_its_markers_is_told() -> None:
    with pytest.raises(ValueError, match="no <!-- generated: t -->"):
        rewritten("nothing", "t", iter(()))

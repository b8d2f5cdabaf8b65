from pathlib import Path

from zurelay.letters.words import read_words


def test_words_of_all_folders_count_and_unknown_ones_stay(tmp_path: Path) -> None:
    for name, text in (("a", 'msgid "One"\nmsgstr "Een"\n'), ("b", 'msgid "Two"\nmsgstr "Twee"\n')):
        (tmp_path / name / "nl").mkdir(parents=True)
        (tmp_path / name / "nl" / "x.po").write_text(text, encoding="utf-8")
    words = read_words("nl", [tmp_path / "a", tmp_path / "b"])
    assert [words.gettext(one) for one in ("One", "Two", "Three")] == ["Een", "Twee", "Three"]
    assert read_words("en", [tmp_path / "a"]).gettext("One") == "One"

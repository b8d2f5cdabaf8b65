"""The stated tiers: whole, dated, and of models that there are."""

from datetime import date

import pytest

from zurelay.catalogue import tiers
from zurelay.catalogue.load import standard
from zurelay.catalogue.price import CatalogueError


def test_every_stated_model_is_in_the_catalogue() -> None:
    assert [name for name in tiers.standard() if name not in standard().by_id] == []


def test_every_tier_has_a_source_and_a_date() -> None:
    for stated in tiers.standard().values():
        assert len(stated.source) > 20
        date.fromisoformat(stated.checked)


def test_all_tiers_are_in_use_and_a_line_rises() -> None:
    found = tiers.standard()
    assert {stated.tier for stated in found.values()} == {1, 2, 3, 4}
    line = ("claude-haiku-5-5", "claude-sonnet-5-5", "claude-opus-5-5", "claude-fable-5-2")
    assert [found[name].tier for name in line] == [1, 2, 3, 4]


def test_the_newer_of_a_line_stands_later() -> None:
    found = tiers.standard()
    for line in (("gpt-5.4", "gpt-6-sol", "gpt-6.2-sol"), ("claude-opus-5", "claude-opus-5-5")):
        places = [found[name].place for name in line]
        assert places == sorted(places)


def test_words_and_numbers_go_both_ways() -> None:
    assert [tiers.number_of(word) for word in tiers.TIERS] == [1, 2, 3, 4]
    assert [tiers.name_of(number) for number in range(5)] == ["unrated", *tiers.TIERS]
    with pytest.raises(ValueError, match="not in tuple"):
        tiers.number_of("huge")


@pytest.mark.parametrize(
    "data",
    [
        b"[]",
        b'{"stated": [{"source": "s", "checked": "d", "huge": ["a"]}]}',
        b'{"stated": [{"source": "s", "checked": "d", "light": ["a"], "strong": ["a"]}]}',
    ],
)
def test_a_file_of_another_shape_is_refused(data: bytes) -> None:
    with pytest.raises(CatalogueError):
        tiers.load(data)

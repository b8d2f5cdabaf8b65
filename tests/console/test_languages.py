import pytest

from zurelay.console.languages import N_, NAMES, choose, language

NOON = 1_795_953_600.0  # 2026-11-29 12:00 UTC
NARROW, WIDE = "\u202f", "\u00a0"


def plain(text: str) -> str:
    return text.replace(NARROW, " ").replace(WIDE, " ")


@pytest.mark.parametrize(
    ("kept", "accepted", "chosen"),
    [
        (None, "", "en"),
        (None, "nl-BE,nl;q=0.9,en;q=0.8", "nl"),
        (None, "de-DE, fr;q=0.3, en;q=0.2", "fr"),
        (None, "de", "en"),
        (None, "fr;q=0, nl;q=0.1", "nl"),
        (None, "fr;q=x,,;;=", "en"),
        ("fr", "nl", "fr"),
        ("xx", "nl", "nl"),
        ("", "nl", "nl"),
    ],
)
def test_what_was_chosen_comes_before_what_the_browser_asks_for(
    kept: str | None, accepted: str, chosen: str
) -> None:
    assert choose(kept, accepted) == chosen


def test_words_are_translated_and_unknown_ones_stay() -> None:
    assert language("nl").gettext("Keys") == "Sleutels"
    assert language("fr").gettext("Keys") == "Clés"
    assert language("en").gettext(N_("Keys")) == "Keys"
    assert language("nl").gettext("never said") == "never said"
    assert language("nl").gettext("") == ""
    assert language("fr").ngettext("%(num)s key", "%(num)s keys", 1) == "%(num)s clé"
    assert language("fr").ngettext("%(num)s key", "%(num)s keys", 2) == "%(num)s clés"
    assert set(NAMES) == {"en", "nl", "fr"}


def test_what_is_just_now_is_a_second_ago_and_not_in_no_seconds() -> None:
    assert language("en").ago(NOON, NOON) == "1 second ago"
    assert language("en").ago(NOON + 60, NOON) == "in 1 minute"


@pytest.mark.parametrize(
    ("code", "number", "money", "tiny", "share", "date", "moment", "ago"),
    [
        (
            "en",
            "1,234,567",
            "$1,234.50",
            "$0.00012",
            "12%",
            "29 Nov 2026",
            "29 Nov 2026, 12:00",
            "5 minutes ago",
        ),
        (
            "nl",
            "1.234.567",
            "$ 1.234,50",
            "$ 0,00012",
            "12%",
            "29 nov 2026",
            "29 nov 2026, 12:00",
            "5 minuten geleden",
        ),
        (
            "fr",
            "1 234 567",
            "1 234,50 $",
            "0,00012 $",
            "12 %",
            "29 nov. 2026",
            "29 nov. 2026, 12:00",
            "il y a 5 minutes",
        ),
    ],
)
def test_each_language_has_its_own_forms(
    code: str, number: str, money: str, tiny: str, share: str, date: str, moment: str, ago: str
) -> None:
    say = language(code)
    told = (
        say.number(1234567),
        say.money("1234.5"),
        say.money("0.00012"),
        say.share(0.12),
        say.date(NOON),
        say.moment("2026-11-29T12:00:00Z"),
        say.ago(NOON - 300, NOON),
    )
    assert tuple(map(plain, told)) == (number, money, tiny, share, date, moment, ago)


def test_small_room_and_short_times() -> None:
    say = language("en")
    assert [say.compact(one) for one in (0, 999, 12_345, 2_500_000)] == [
        "0",
        "999",
        "12.3K",
        "2.5M",
    ]
    assert [say.duration(one) for one in (None, 3.4, 999, 1250)] == ["", "3 ms", "999 ms", "1.2 s"]
    assert [say.share(one) for one in (0, 0.031, 0.5)] == ["0%", "3.1%", "50%"]
    assert (say.day(NOON), say.clock(NOON)) == ("29 Nov", "12:00")
    assert say.money(None) == ""
    assert say.money("0") == "$0.00"
    assert say.money("-3") == "-$3.00"


def test_money_can_be_told_exactly() -> None:
    say = language("en")
    assert [say.money(text, exact=True) for text in ("0.01575", "12", "1.10", "0", "1000")] == [
        "$0.01575",
        "$12.00",
        "$1.10",
        "$0.00",
        "$1,000.00",
    ]


@pytest.mark.parametrize(
    ("code", "text", "told"),
    [("en", "1.25", "\u00d7 1.25"), ("nl", "1.25", "\u00d7 1,25"), ("fr", "2.0", "\u00d7 2")],
)
def test_a_mark_up_is_told_as_a_factor(code: str, text: str, told: str) -> None:
    assert language(code).factor(text) == told

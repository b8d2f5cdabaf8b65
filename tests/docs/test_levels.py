from dataclasses import replace

from zurelay.catalogue.model import Model, Reasoning
from zurelay.docs.levels import Levels, by_vendor, levels_of, vendor_title

ONE = Model("one", "One", "openai", "one", reasoning=Reasoning(("low", "high"), "high"))
PLAIN = Model("plain", "Plain", "acme", "plain", reasoning=Reasoning())
UNKNOWN = Model("unknown", "Unknown", "acme", "unknown")


def test_a_row_says_what_a_model_takes_and_what_none_becomes() -> None:
    assert levels_of([ONE, PLAIN, UNKNOWN]) == (
        Levels("one", ("openai",), ("low", "high"), "high", "low", "low high*"),
        Levels("plain", ("acme",), (), None, "off", ""),
    )


def test_vendors_that_agree_share_a_row_and_others_do_not() -> None:
    same = replace(ONE, vendor="openrouter")
    other = replace(ONE, vendor="azure", reasoning=Reasoning(("none", "low"), None))
    rows = levels_of([ONE, same, same, other])
    assert [(row.vendors, row.text) for row in rows] == [
        (("openai", "openrouter"), "low high*"),
        (("azure",), "none low"),
    ]


def test_rows_go_under_their_first_vendor_by_its_title() -> None:
    groups = by_vendor(levels_of([ONE, PLAIN, replace(ONE, id="two")]))
    assert {vendor: [row.model for row in rows] for vendor, rows in groups.items()} == {
        "openai": ["one", "two"],
        "acme": ["plain"],
    }
    assert [vendor_title(vendor) for vendor in (*groups, "")] == ["OpenAI", "acme", ""]

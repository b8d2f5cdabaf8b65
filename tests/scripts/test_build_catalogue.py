import json
from decimal import Decimal
from typing import Any

import pytest

from scripts.build_catalogue import OUTPUT, Build, dated, document, levels_of, squash
from scripts.catalogue_sources import Facts, Sources
from zurelay.catalogue.load import load

PRICE = {"input": Decimal(2), "output": Decimal(10)}


def facts(**changes: Any) -> Facts:
    made = Facts(name="M", context=10, max_output=5, input={"text"}, price=dict(PRICE), tools=True)
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def build(
    pi: dict[str, dict[str, Facts]],
    litellm: dict[str, Facts] | None = None,
    genai: dict[str, dict[str, Facts]] | None = None,
    **overlay: Any,
) -> Build:
    vendors = {
        "lab": {"pi": "lab", "litellm": "", "genai": "lab"},
        "host": {"host": True, "pi": "host", "litellm": "host/", "genai": "host"},
    }
    base: dict[str, Any] = {
        "checked": "2026-11-29",
        "vendors": vendors,
        "models": {},
        "rules": [],
        "aliases": {},
        "known_differences": [],
    }
    made = Build(Sources(pi, litellm or {}, genai or {}, {"pi-ai": "1"}), base | overlay)
    made.run()
    return made


def ids(made: Build) -> list[tuple[str, str, str]]:
    return [(e["vendor"], e["id"], e.get("upstream", e["id"])) for e in made.entries]


def test_a_host_serves_a_labs_model_under_the_labs_name() -> None:
    made = build({"lab": {"glm-5.3": facts()}, "host": {"accounts/host/models/glm-5p3": facts()}})
    assert ids(made) == [
        ("lab", "glm-5.3", "glm-5.3"),
        ("host", "glm-5.3", "accounts/host/models/glm-5p3"),
    ]


def test_an_alias_joins_names_that_do_not_look_alike() -> None:
    made = build(
        {"lab": {"flash": facts()}, "host": {"Org/Flash-V4.1": facts()}},
        aliases={"flash-v4.1": "flash"},
    )
    assert ids(made)[1] == ("host", "flash", "Org/Flash-V4.1")


def test_a_model_without_a_lab_keeps_the_hosts_name_in_lower_case() -> None:
    made = build({"host": {"Org/Some-7B": facts()}})
    assert ids(made) == [("host", "org/some-7b", "Org/Some-7B")]


def test_two_labs_names_that_look_alike_fail_the_build() -> None:
    made = build({"lab": {"m-1.1": facts(), "m-11": facts()}})
    assert made.failures == ["m-11 and m-1.1 look alike: name aliases"]


def test_an_unlisted_price_difference_of_a_lab_fails_and_a_listed_one_is_told() -> None:
    dear = facts(price={"input": Decimal(3), "output": Decimal(10)})
    told = "lab/m: pi-ai / litellm: input 2 / 3"
    sources = {"lab": {"m": facts()}}, {"m": dear}
    assert build(*sources).failures == [told]
    listed = build(*sources, known_differences=["lab/m litellm"])
    assert (listed.failures, listed.notes) == ([], [told])
    assert listed.entries[0]["source"] == "pi-ai"


def test_sources_that_agree_are_named() -> None:
    made = build({"lab": {"m": facts()}}, {"m": facts()}, {"lab": {"m": facts()}})
    assert made.entries[0]["source"] == "pi-ai, genai-prices, litellm"


def test_a_floating_price_takes_the_dearer_of_two_class_by_class() -> None:
    vendors = {"host": {"host": True, "floating": True, "pi": "host", "genai": "host"}}
    other = facts(
        price={"input": Decimal(1), "cached_input": Decimal("0.5"), "output": Decimal(12)}
    )
    made = build({"host": {"a/m": facts()}}, None, {"host": {"a/m": other}}, vendors=vendors)
    assert made.entries[0]["price"] == {"input": "2", "cached_input": "0.5", "output": "12"}


def test_long_cache_writes_follow_the_vendors_factor_where_no_list_has_them() -> None:
    vendors = {"lab": {"pi": "lab", "cache_write_long_factor": "2.5"}}
    priced = facts(price={**PRICE, "cache_write": Decimal("2.5")})
    made = build({"lab": {"m": priced}}, vendors=vendors)
    assert made.entries[0]["price"]["cache_write_long"] == "5"


@pytest.mark.parametrize(
    ("row", "told", "fee"),
    [
        ({"web_search": ""}, "0.014", {"web_search": "0.014"}),
        ({"web_search": "0.01"}, "0.03", {"web_search": "0.01"}),
        ({"web_search": "0.01"}, None, {"web_search": "0.01"}),
        ({"web_search": ""}, None, None),
        ({}, "0.014", None),
    ],
)
def test_searches_cost_what_the_overlay_says_else_what_the_list_says_where_they_count(
    row: dict[str, str], told: str | None, fee: dict[str, str] | None
) -> None:
    litellm = facts(web_search=None if told is None else Decimal(told))
    made = build(
        {"lab": {"m": facts()}},
        {"m": litellm},
        vendors={"lab": {"pi": "lab", "litellm": "", **row}},
    )
    assert made.entries[0]["price"].get("per_call") == fee


def test_images_cost_what_text_costs_where_the_vendor_says_so() -> None:
    vendors = {"lab": {"pi": "lab", "images_as_text": True}}
    priced = facts(above={9: {"input": Decimal(4), "output": Decimal(20)}})
    (entry,) = build({"lab": {"m": priced}}, vendors=vendors).entries
    assert entry["price"]["image_input"] == "2"
    assert entry["price"]["above"][0]["image_input"] == "4"


def test_a_dated_snapshot_takes_the_words_of_its_model() -> None:
    own = {"lab": {"m": {"name": "M", "reasoning": {"levels": ["low"]}, "context": 99}}}
    made = build({"lab": {"m": facts(), "m-20251001": facts()}}, models=own)
    snapshot = made.entries[1]
    assert snapshot["reasoning"] == {"levels": ["low"]}
    assert snapshot["context"] == 99
    assert snapshot["released"] == "2025-10-01"


def test_a_host_that_does_not_say_so_cannot_stop_a_model_that_always_thinks() -> None:
    own = {"lab": {"m": {"reasoning": {"levels": ["low", "high"]}}}}
    silent = facts(reasoning=True, levels={"minimal": None})
    sure = facts(reasoning=True, levels={"off": "none"})
    made = build({"lab": {"m": facts()}, "host": {"a/m": silent}}, models=own)
    assert made.entries[1]["reasoning"]["levels"] == ["low", "medium", "high"]
    made = build({"lab": {"m": facts()}, "host": {"a/m": sure}}, models=own)
    assert made.entries[1]["reasoning"]["levels"] == ["none", "low", "medium", "high"]


def test_a_host_with_a_switch_alone_has_two_levels_and_sends_no_word() -> None:
    switch = facts(reasoning=True, flags={"supportsReasoningEffort": False})
    entry = build({"host": {"a/m": switch}}).entries[0]
    assert entry["reasoning"] == {"levels": ["none", "high"]}
    assert entry["quirks"]["effort_words"] == {"high": ""}


def test_a_later_rule_overrides_and_a_format_can_be_told() -> None:
    rules = [
        {"vendor": "lab", "match": ".", "quirks": {"stop_limit": 1, "strict_tools": False}},
        {"vendor": "lab", "match": "^m", "quirks": {"stop_limit": 0}, "format": "other"},
        {"vendor": "host", "match": ".", "quirks": {"stop_limit": 3}},
    ]
    entry = build({"lab": {"m": facts()}}, rules=rules).entries[0]
    assert entry["quirks"] == {"stop_limit": 0, "strict_tools": False}
    assert entry["format"] == "other"


def test_a_day_gone_by_is_doubted_while_the_model_is_listed() -> None:
    made = build({"lab": {"m": facts()}}, {"m": facts(retires="2026-10-23")})
    assert "retires" not in made.entries[0]
    assert made.notes == ["lab/m: retired on 2026-10-23 says litellm, still listed"]


def test_a_model_of_the_overlay_that_no_source_knows_needs_a_name() -> None:
    made = build({}, models={"lab": {"m": {"context": 5}}})
    assert made.failures == ["lab/m: in no source; give its name in the overlay"]


def test_levels_between_low_and_high_count_unless_refused() -> None:
    assert levels_of({"off": None, "max": "max", "medium": None}) == ["low", "high", "max"]
    assert levels_of({}) == ["none", "low", "medium", "high"]


@pytest.mark.parametrize(
    ("one", "other"), [("GLM-5.3", "glm-5p3"), ("a/claude-opus-5.5", "claude-opus-5-5")]
)
def test_names_of_one_model_squash_alike(one: str, other: str) -> None:
    assert squash(one) == squash(other)


def test_only_a_whole_date_at_the_end_is_a_date() -> None:
    assert [dated(n) for n in ("m-2024-08-06", "m-20251001", "m-2508", "m")] == [
        "2024-08-06",
        "2025-10-01",
        "",
        "",
    ]


def test_the_file_has_one_model_a_line_sorted_inside_its_vendor() -> None:
    made = build({"lab": {"b": facts(), "a": facts()}, "host": {"x/b": facts()}})
    text = document(made)
    lines = text.splitlines()
    assert [json.loads(line.rstrip(","))["id"] for line in lines[2:-1]] == ["a", "b", "b"]
    assert [model.vendor for model in load(text.encode())] == ["lab", "lab", "host"]


def test_the_shipped_file_stays_small_and_readable() -> None:
    text = OUTPUT.read_text(encoding="utf-8")
    assert len(text) < 1_000_000
    assert max(map(len, text.splitlines())) < 1500

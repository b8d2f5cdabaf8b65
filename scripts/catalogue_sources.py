"""The public price lists behind the catalogue, each read into the same facts.

Three sources, facts only: the npm package `@earendil-works/pi-ai`, and the Python packages
`litellm` (its price map) and `genai-prices`. They are fetched into a folder of their own and
never imported by the gateway.
"""

import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

Amounts = dict[str, Decimal]
"""Token class -> USD per million tokens."""

MILLION = Decimal(10**6)
_LITELLM_CLASSES = {
    "input": "input_cost_per_token",
    "cached_input": "cache_read_input_token_cost",
    "cache_write": "cache_creation_input_token_cost",
    "output": "output_cost_per_token",
    "audio_input": "input_cost_per_audio_token",
    "audio_output": "output_cost_per_audio_token",
    "image_output": "output_cost_per_image_token",
}
_TEXT = ("input", "cached_input", "cache_write", "cache_write_long", "output")
_TIERS = ("flex", "priority", "ultrafast")
_PLATFORM_TIERS = ("fast", "us")
"""Factors of Anthropic's platform: its fast mode, and inference in one country."""
_LITELLM_LONG = (
    "cache_creation_input_token_cost_above_1hr",
    "cache_creation_input_token_cost_above_12hr",
)
_GENAI_CLASSES = {
    "input_mtok": "input",
    "cache_read_mtok": "cached_input",
    "cache_write_mtok": "cache_write",
    "output_mtok": "output",
}
_DAYS = ("", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass
class Facts:
    """What one source says of one model at one vendor; empty where it says nothing."""

    name: str = ""
    context: int | None = None
    max_output: int | None = None
    input: set[str] = field(default_factory=set)
    price: Amounts = field(default_factory=dict)
    above: dict[int, Amounts] = field(default_factory=dict)
    tiers: dict[str, Decimal] = field(default_factory=dict)
    hours: list[tuple[list[str], Amounts]] = field(default_factory=list)
    web_search: Decimal | None = None
    reasoning: bool | None = None
    levels: Mapping[str, str | None] | None = None
    tools: bool | None = None
    retires: str = ""
    flags: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Sources:
    """All three, by vendor name in each and model id there."""

    pi: dict[str, dict[str, Facts]]
    litellm: dict[str, Facts]
    genai: dict[str, dict[str, Facts]]
    versions: dict[str, str]


def fetch(folder: Path) -> None:
    """Downloads the newest packages into `folder`; nothing of them is run while installing."""
    newest = _run("npm", "view", "@earendil-works/pi-ai", "version").strip()
    _run("npm", "pack", "--ignore-scripts", f"@earendil-works/pi-ai@{newest}", cwd=folder)
    archive = next(folder.glob("earendil-works-pi-ai-*.tgz"))
    _run("tar", "xzf", archive.name, cwd=folder)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    _run(
        *pip,
        "download",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--dest",
        ".",
        "litellm",
        cwd=folder,
    )
    _run(*pip, "install", "--only-binary", ":all:", "--target", "genai", "genai-prices", cwd=folder)


def read(folder: Path) -> Sources:
    """Everything `fetch` brought."""
    package = json.loads((folder / "package/package.json").read_text())
    wheel = next(folder.glob("litellm-*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        prices = archive.read("litellm/model_prices_and_context_window_backup.json")
    genai = next(folder.glob("genai/genai_prices-*.dist-info")).name
    return Sources(
        pi=_pi(folder / "package/dist/providers/data"),
        litellm=_litellm(json.loads(prices, parse_float=Decimal)),
        genai=_genai(folder / "genai"),
        versions={
            "pi-ai": package["version"],
            "litellm": wheel.name.split("-")[1],
            "genai-prices": genai.removeprefix("genai_prices-").removesuffix(".dist-info"),
        },
    )


def _run(*command: str, cwd: Path | None = None) -> str:
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


def plain(amounts: Mapping[str, Decimal]) -> Amounts:
    """Without the classes that cost nothing extra: a zero there means "no such price"."""
    return {name: amount for name, amount in amounts.items() if amount}


def _pi(folder: Path) -> dict[str, dict[str, Facts]]:
    found: dict[str, dict[str, Facts]] = {}
    for path in sorted(folder.glob("[a-z]*.json")):
        formats = json.loads(path.read_text(), parse_float=Decimal)
        models = [model for entries in formats.values() for model in entries.values()]
        found[path.stem] = {m["id"]: pi_facts(m) for m in models if m.get("type") == "chat"}
    return found


def pi_facts(model: Mapping[str, Any]) -> Facts:
    """One entry of pi-ai's data files."""
    cost = model["cost"]
    return Facts(
        name=model["name"],
        context=model["contextWindow"],
        max_output=model["maxTokens"],
        input=set(model["input"]),
        price=_pi_amounts(cost),
        above={step["inputTokensAbove"]: _pi_amounts(step) for step in cost.get("tiers", ())},
        reasoning=model["reasoning"],
        levels=model.get("thinkingLevelMap"),
        tools=True,
        flags=model.get("compat", {}),
    )


def _pi_amounts(cost: Mapping[str, Any]) -> Amounts:
    names = {
        "input": "input",
        "output": "output",
        "cacheRead": "cached_input",
        "cacheWrite": "cache_write",
    }
    return plain({ours: Decimal(cost[theirs]) for theirs, ours in names.items()})


def _litellm(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, Facts]:
    return {
        key: litellm_facts(entry)
        for key, entry in entries.items()
        if entry.get("mode") in ("chat", "responses") and "input_cost_per_token" in entry
    }


def litellm_facts(entry: Mapping[str, Any]) -> Facts:
    """One entry of litellm's price map."""
    kinds = {"image": "vision", "pdf": "pdf_input", "audio": "audio_input", "video": "video_input"}
    steps = {int(k) for key in entry for k in re.findall(r"_above_(\d+)k_tokens$", key)}
    base = _litellm_amounts(entry, "")
    searches = entry.get("search_context_cost_per_query") or {}
    return Facts(
        context=entry.get("max_input_tokens"),
        max_output=entry.get("max_output_tokens"),
        input={"text", *(kind for kind, flag in kinds.items() if entry.get(f"supports_{flag}"))},
        price=base,
        above={k * 1000: _litellm_amounts(entry, f"_above_{k}k_tokens") for k in sorted(steps)},
        tiers=_tiers(entry, base),
        web_search=max(map(_normal, searches.values()), default=None),
        hours=_off_peak(entry),
        reasoning=entry.get("supports_reasoning"),
        tools=entry.get("supports_function_calling"),
        retires=entry.get("deprecation_date", ""),
        flags=entry,
    )


def _litellm_amounts(entry: Mapping[str, Any], suffix: str) -> Amounts:
    keys = dict(_LITELLM_CLASSES)
    for long in _LITELLM_LONG:
        if long in entry:
            keys["cache_write_long"] = long
    found = {
        name: _normal(Decimal(entry[key + suffix]) * MILLION)
        for name, key in keys.items()
        if isinstance(entry.get(key + suffix), int | Decimal)
    }
    return plain(found)


def _tiers(entry: Mapping[str, Any], base: Amounts) -> dict[str, Decimal]:
    """Service tiers whose prices are all one multiple of the standard ones."""
    found = {
        tier: factor
        for tier in _TIERS
        if (factor := _factor(base, _litellm_amounts(entry, f"_{tier}"))) is not None
    }
    platform = entry.get("provider_specific_entry") or {}
    return found | {name: _normal(platform[name]) for name in _PLATFORM_TIERS if name in platform}


def _factor(base: Amounts, tier: Amounts) -> Decimal | None:
    """By what every class of `base` is multiplied in `tier`; None if not by one number."""
    text = {name: amount for name, amount in base.items() if name in _TEXT}
    factors = {tier[name] / amount for name, amount in text.items() if name in tier}
    if len(factors) != 1 or not text.keys() <= tier.keys():
        return None
    return _normal(factors.pop())


def _off_peak(entry: Mapping[str, Any]) -> list[tuple[list[str], Amounts]]:
    peak = entry.get("off_peak_pricing")
    if not peak:
        return []
    stretches = []
    for window in peak["windows"]:
        days = [_DAYS[day] for day in window["weekdays"]]
        clocks = window["hours_utc"]
        for clock in [clocks] if isinstance(clocks, str) else clocks:
            start, end = clock.split("-")
            stretches.append(f"{days[0]}-{days[-1]} {start}-{'24:00' if end == '00:00' else end}")
    return [(stretches, _litellm_amounts(peak, ""))]


def _genai(folder: Path) -> dict[str, dict[str, Facts]]:
    """Its data is Python: a process of its own prints it as JSON."""
    program = """
import json
from datetime import datetime, timezone
from genai_prices.data import providers
from genai_prices.types import TieredPrices
now = datetime.now(timezone.utc)
def amount(value):
    if isinstance(value, TieredPrices):
        return [str(value.base), [[tier.start, str(tier.price)] for tier in value.tiers]]
    return [str(value), []]
print(json.dumps({p.id: {m.id: [
    {k: amount(v) for k, v in vars(m.get_prices(now)).items() if v is not None},
    isinstance(m.prices, list) and any(hasattr(c.constraint, "start_time") for c in m.prices),
] for m in p.models} for p in providers}))
"""
    printed = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(folder)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return {
        provider: {name: genai_facts(prices, by_hour) for name, (prices, by_hour) in models.items()}
        for provider, models in json.loads(printed).items()
    }


def genai_facts(prices: Mapping[str, Any], by_hour: bool) -> Facts:
    """One printed entry; prices that change by the hour are left out, as they depend on now."""
    if by_hour:
        return Facts()
    facts = Facts()
    for key, name in _GENAI_CLASSES.items():
        if key not in prices:
            continue
        base, tiers = prices[key]
        facts.price[name] = Decimal(base)
        for step, amount in tiers:
            facts.above.setdefault(step, {})[name] = Decimal(amount)
    facts.price = plain(facts.price)
    return facts


def _normal(amount: Decimal) -> Decimal:
    """Without the noise of binary fractions in the source (1.25e-06 times a million)."""
    return +Decimal(f"{amount:.9f}").normalize()


def text(amount: Decimal) -> str:
    """A plain decimal string of at most nine places, without exponent and trailing zeros."""
    return f"{amount:.9f}".rstrip("0").rstrip(".")


def differing(one: Amounts, other: Amounts, names: Iterable[str]) -> list[str]:
    """The classes whose prices differ, as `input 3 / 2.5`; a missing one counts as zero."""
    zero = Decimal(0)
    return [
        f"{name} {text(one.get(name, zero))} / {text(other.get(name, zero))}"
        for name in names
        if one.get(name, zero) != other.get(name, zero)
    ]

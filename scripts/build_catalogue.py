"""Builds src/zurelay/catalogue/catalogue.json. For maintainers; never run by the gateway.

    python -m scripts.build_catalogue            fetch the sources, build, report
    python -m scripts.build_catalogue --from DIR use sources fetched earlier

What a price list cannot know (levels and defaults that were tried out, what an API refuses, which
names mean the same model) stands in catalogue_overlay.toml. The build prints every difference
between the sources and fails on a price difference of a lab's model that the overlay does not
list.
"""

import argparse
import json
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from scripts.catalogue_sources import Amounts, Facts, Sources, differing, fetch, read, text
from zurelay.catalogue.load import load
from zurelay.catalogue.price import CLASSES
from zurelay.chat.effort import SCALE

ROOT = Path(__file__).resolve().parents[1]
OVERLAY = ROOT / "scripts/catalogue_overlay.toml"
OUTPUT = ROOT / "src/zurelay/catalogue/catalogue.json"
INPUT_KINDS = ("text", "image", "pdf", "audio", "video")
COMPARED = ("input", "cached_input", "output")


@dataclass
class Build:
    """One run: what is known, what was made, what is to be told."""

    sources: Sources
    overlay: Mapping[str, Any]
    entries: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    lab_ids: dict[str, str] = field(default_factory=dict)

    def run(self) -> None:
        """All vendors, labs before hosts."""
        vendors = self.overlay["vendors"]
        for vendor, row in vendors.items():
            if not row.get("host"):
                for name in self._names(vendor, row):
                    self._add(vendor, row, name, name)
        labs = {entry["id"] for entry in self.entries}
        for model_id in sorted(labs):
            key = squash(model_id)
            if key in self.lab_ids:
                self.failures.append(f"{model_id} and {self.lab_ids[key]} look alike: name aliases")
            self.lab_ids[key] = model_id
        for vendor, row in vendors.items():
            if row.get("host"):
                for name in self._names(vendor, row):
                    self._add(vendor, row, self._public_id(name), name)

    def _names(self, vendor: str, row: Mapping[str, Any]) -> Iterator[str]:
        """The vendor's own names: those of the overlay first, then what pi-ai lists."""
        own = self.overlay["models"].get(vendor, {})
        listed = self.sources.pi.get(row.get("pi", ""), {})
        skip = [re.compile(pattern) for pattern in row.get("skip", ())]
        yield from own
        for name in sorted(listed):
            if name not in own and not any(pattern.search(name) for pattern in skip):
                yield name

    def _public_id(self, name: str) -> str:
        """The public id of a host's model: the lab's where it has one, else the host's own."""
        last = self.overlay["aliases"].get(name.rsplit("/", 1)[-1].lower(), name.rsplit("/", 1)[-1])
        known = self.lab_ids.get(squash(last))
        if known is not None:
            return known
        public = name.lower().removeprefix("accounts/").replace("/models/", "/")
        # The first host of the overlay's list names a model for all.
        return self.lab_ids.setdefault(squash(last), public)

    def _add(self, vendor: str, row: Mapping[str, Any], model_id: str, name: str) -> None:
        where = f"{vendor}/{model_id}"
        pi = self.sources.pi.get(row.get("pi", ""), {}).get(name)
        litellm = self.sources.litellm.get(row.get("litellm", "-/") + name)
        genai = self.sources.genai.get(row.get("genai", ""), {}).get(name)
        own = self._own(vendor, name)
        if (own.get("retires") or "9999") < self.overlay["checked"]:
            self.notes.append(f"{where}: retired")
            return
        if pi is None and litellm is None and "name" not in own:
            self.failures.append(f"{where}: in no source; give its name in the overlay")
            return
        if any(entry["vendor"] == vendor and entry["id"] == model_id for entry in self.entries):
            self.notes.append(f"{where}: {name} left out, its id is taken")
            return
        facts = pi or litellm or Facts()
        if row.get("floating") and pi and genai:
            pi = replace(pi, price=dearer(pi.price, genai.price))
        price = self._price(where, row, own, pi, litellm)
        agreeing = self._compare(where, row, facts, pi, litellm, genai)
        entry = {
            "vendor": vendor,
            "id": model_id,
            "name": own.get("name") or (pi.name if pi else "") or model_id,
            "upstream": name if name != model_id else "",
            "context": own.get("context") or facts.context,
            "max_output": own.get("max_output") or facts.max_output,
            "input": self._input(row, own, pi, litellm),
            "reasoning": self._reasoning(vendor, model_id, own, facts),
            "price": price,
            "format": own.get("format", "") or self._rule(vendor, name, "format", ""),
            "quirks": self._quirks(vendor, name, own, facts, litellm),
            "tools": own.get("tools", litellm.tools if litellm and litellm.tools else facts.tools),
            "retires": own.get("retires", "") or self._retires(where, row, litellm),
            "released": own.get("released", "") or dated(name),
            "source": ", ".join(agreeing) or own.get("source", "overlay"),
            "checked": self.overlay["checked"],
        }
        kept = {key: value for key, value in entry.items() if value not in (None, "", [], {})}
        self.entries.append(kept)

    def _own(self, vendor: str, name: str) -> Mapping[str, Any]:
        """The overlay's words; a dated snapshot takes those of the model it is a snapshot of."""
        own: Mapping[str, Mapping[str, Any]] = self.overlay["models"].get(vendor, {})
        base = re.sub(r"-\d{4}-?\d{2}-?\d{2}$", "", name)
        return own.get(name) or own.get(base) or {}

    def _retires(self, where: str, row: Mapping[str, Any], litellm: Facts | None) -> str:
        """A lab's last day; one gone by is doubted while the model is still listed."""
        if litellm is None or row.get("host") or not litellm.retires:
            return ""
        if litellm.retires < self.overlay["checked"]:
            self.notes.append(f"{where}: retired on {litellm.retires} says litellm, still listed")
            return ""
        return litellm.retires

    def _rule(self, vendor: str, name: str, key: str, default: Any) -> Any:
        found = default
        for rule in self.overlay["rules"]:
            if rule["vendor"] == vendor and re.search(rule["match"], name):
                found = rule.get(key, found)
        return found

    def _quirks(
        self,
        vendor: str,
        name: str,
        own: Mapping[str, Any],
        facts: Facts,
        litellm: Facts | None,
    ) -> dict[str, Any]:
        quirks: dict[str, Any] = {}
        host = self.overlay["vendors"][vendor].get("host", False)
        flags = facts.flags
        if host and flags.get("supportsStrictMode") is False:
            quirks["strict_tools"] = False
        if host and flags.get("requiresReasoningContentOnAssistantMessages"):
            quirks["reasoning_in"] = "reasoning_content"
            quirks["reasoning_placeholder"] = ""
        if host and facts.reasoning and flags.get("supportsReasoningEffort") is False:
            quirks["effort_words"] = {"high": ""}
        if litellm and litellm.flags.get("supports_sampling_params") is False:
            quirks["refuses"] = ["temperature", "top_p", "top_k"]
        if litellm and litellm.flags.get("supports_forced_tool_use") is False:
            quirks["forced_tools"] = "never"
        for rule in self.overlay["rules"]:
            if rule["vendor"] == vendor and re.search(rule["match"], name):
                quirks |= rule.get("quirks", {})
        quirks |= own.get("quirks", {})
        return quirks

    def _input(
        self,
        row: Mapping[str, Any],
        own: Mapping[str, Any],
        pi: Facts | None,
        litellm: Facts | None,
    ) -> list[str]:
        if "input" in own:
            kinds = set(own["input"])
        else:
            kinds = set(pi.input) if pi else set()
            if litellm and not row.get("host"):
                kinds |= litellm.input
            kinds |= set(row.get("adds_input", ()))
        return [kind for kind in INPUT_KINDS if kind in kinds]

    def _reasoning(
        self, vendor: str, model_id: str, own: Mapping[str, Any], facts: Facts
    ) -> dict[str, Any] | None:
        if "reasoning" in own:
            return dict(own["reasoning"])
        row = self.overlay["vendors"][vendor]
        if facts.reasoning is False:
            return {"levels": []}
        lab = next((entry for entry in self.entries if entry["id"] == model_id), {})
        known = lab.get("reasoning", {}).get("levels")
        words = facts.levels or {}
        if facts.flags.get("supportsReasoningEffort") is False:
            levels = ["high"] if words.get("off", "off") is None else ["none", "high"]
        elif facts.levels is not None:
            levels = levels_of(words)
        else:
            levels = known or row.get("levels")
            return None if levels is None else {"levels": levels}
        if known and "none" not in known and words.get("off") is None:
            # It always thinks at its lab: a host that does not say otherwise cannot stop it.
            levels = [level for level in levels if level != "none"]
        return {"levels": levels}

    def _price(
        self,
        where: str,
        row: Mapping[str, Any],
        own: Mapping[str, Any],
        pi: Facts | None,
        litellm: Facts | None,
    ) -> dict[str, Any] | None:
        if "price" in own:
            return dict(own["price"]) or None
        main = next((facts for facts in (pi, litellm) if facts and facts.price), None)
        if main is None or not {"input", "output"} <= main.price.keys():
            self.notes.append(f"{where}: no price")
            return None
        other = litellm if litellm and main is not litellm else Facts()
        base = filled(main.price, other.price, row)
        price: dict[str, Any] = written(base)
        above = main.above or other.above
        if above:
            price["above"] = [
                {
                    "prompt_tokens": step,
                    **written(filled(amounts, other.above.get(step, {}), row)),
                }
                for step, amounts in sorted(above.items())
            ]
        if litellm and row.get("tiers"):
            price["tiers"] = {tier: text(factor) for tier, factor in litellm.tiers.items()}
            if not price["tiers"]:
                del price["tiers"]
        searches = row.get("web_search") or (litellm.web_search if litellm else None)
        if searches and "web_search" in row:
            price["per_call"] = {"web_search": text(Decimal(searches))}
        if litellm and litellm.hours:
            price["hours"] = [{"utc": when, **written(what)} for when, what in litellm.hours]
        return price

    def _compare(
        self,
        where: str,
        row: Mapping[str, Any],
        facts: Facts,
        pi: Facts | None,
        litellm: Facts | None,
        genai: Facts | None,
    ) -> list[str]:
        """The sources that have it at the same price; differences are told."""
        agreeing = ["pi-ai"] if pi else ["litellm"] if litellm else []
        for source, other in (("genai-prices", genai), ("litellm", litellm if pi else None)):
            if other is None or not other.price:
                continue
            found = differing(facts.price, other.price, COMPARED)
            for step, amounts in facts.above.items():
                there = other.above.get(step)
                if there is not None:
                    found += [f"above {step}: {d}" for d in differing(amounts, there, COMPARED)]
                elif other.above:
                    found.append(f"above {step}: no such step in {source}")
            if not found:
                agreeing.append(source)
                continue
            told = f"{where}: {agreeing[0]} / {source}: {'; '.join(found)}"
            if row.get("host") or f"{where} {source}" in self.overlay["known_differences"]:
                self.notes.append(told)
            else:
                self.failures.append(told)
        return agreeing


def squash(name: str) -> str:
    """Letters and digits of a model's name, so that glm-5.3, GLM-5.3 and glm-5p3 are one."""
    lowered = re.sub(r"(?<=\d)p(?=\d)", "", name.rsplit("/", 1)[-1].lower())
    return re.sub(r"[^a-z0-9]", "", lowered)


def levels_of(words: Mapping[str, str | None]) -> list[str]:
    """Levels from pi-ai's map: low to high count unless refused, the others only if named."""
    levels = [] if words.get("off", "off") is None else ["none"]
    for level in SCALE[1:]:
        default = level if level in ("low", "medium", "high") else None
        if words.get(level, default) is not None:
            levels.append(level)
    return levels


def dearer(one: Amounts, other: Amounts) -> Amounts:
    """The higher of two prices, class by class; a class only one of them has keeps its price."""
    return {
        name: max(one.get(name, Decimal(0)), other.get(name, Decimal(0)))
        for name in (one.keys() | other.keys())
    }


def filled(main: Amounts, other: Amounts, row: Mapping[str, Any]) -> Amounts:
    """`main` with the classes only `other` has, and long cache writes by the vendor's factor."""
    amounts = dict(main)
    for name in ("cache_write", "cache_write_long", "audio_input", "audio_output", "image_output"):
        if name in other:
            amounts.setdefault(name, other[name])
    factor = row.get("cache_write_long_factor")
    if factor and "cache_write" in amounts and "cache_write_long" not in amounts:
        amounts["cache_write_long"] = amounts["input"] * Decimal(factor)
    if row.get("images_as_text"):
        amounts["image_input"] = amounts["input"]
    return amounts


def written(amounts: Amounts) -> dict[str, Any]:
    """Token classes in one order, as decimal strings."""
    return {name: text(amounts[name]) for name in CLASSES if name in amounts}


def dated(name: str) -> str:
    """The date in a snapshot's name, or nothing."""
    match = re.search(r"-(20\d{2})-?(\d{2})-?(\d{2})$", name)
    return "-".join(match.groups()) if match else ""


def document(build: Build) -> str:
    """The file: one model a line, vendors in the overlay's order, sorted inside each."""
    vendors = list(build.overlay["vendors"])
    ordered = sorted(build.entries, key=lambda e: (vendors.index(e["vendor"]), e["id"]))
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in ordered)
    sources = json.dumps(build.sources.versions)
    return f'{{"sources": {sources},\n"models": [\n{lines}\n]}}\n'


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="folder", type=Path, help="sources fetched earlier")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    arguments = parser.parse_args()
    overlay = tomllib.loads(OVERLAY.read_text())
    if arguments.folder:
        sources = read(arguments.folder)
    else:
        with tempfile.TemporaryDirectory() as folder:
            fetch(Path(folder))
            sources = read(Path(folder))
    build = Build(sources, overlay)
    build.run()
    for note in build.notes:
        print(f"note: {note}")
    for failure in build.failures:
        print(f"FAULT: {failure}", file=sys.stderr)
    if build.failures:
        return 1
    made = document(build)
    load(made.encode())
    arguments.output.write_text(made)
    print(f"{len(build.entries)} entries, {len(made):,} bytes, {len(build.notes)} notes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

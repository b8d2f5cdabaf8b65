"""Runs the examples of the documentation against a real gateway.

A fenced block whose info string is `python run`, `js run` or `bash run` is run as a reader would,
with the gateway's address in place of the documented one. A block `text output` after it is what it
must print; after the same example in Python and Node, both must. A block `toml check` is a whole configuration and must pass `zurelay check`.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.served import Served

ROOT = Path(__file__).resolve().parent.parent
SDK = ROOT / "tests" / "clients" / "node_modules"
ORIGIN = "http://127.0.0.1:8000"
SDK_LANGUAGES = ("python", "js")
FENCE = re.compile(r"^```(\w+) (run|output)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Example:
    """One block to run; `output` None where none is documented."""

    place: str
    language: str
    code: str
    output: str | None


def examples(path: Path) -> list[Example]:
    text = path.read_text(encoding="utf-8")
    found: list[Example] = []
    first, end = 0, 0
    for match in FENCE.finditer(text):
        language, kind, code = match.groups()
        line = text.count("\n", 0, match.start()) + 1
        if kind == "run":
            found.append(Example(f"{path.relative_to(ROOT)}:{line}", language, code, None))
            if text[end : match.start()].strip():
                first = len(found) - 1
            end = match.end()
            continue
        for at in range(first, len(found)):
            if at == len(found) - 1 or found[at].language in SDK_LANGUAGES:
                found[at] = replace(found[at], output=code)
    return found


GUIDE = ROOT / "src" / "zurelay" / "docs" / "pages"
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((GUIDE / "en").glob("*.md")),
]
EXAMPLES = [example for page in PAGES for example in examples(page)]


def command(example: Example, folder: Path) -> list[str]:
    match example.language:
        case "python":
            return [sys.executable, "-c", example.code]
        case "bash":
            return ["bash", "-euc", example.code]
        case "js":
            if shutil.which("node") is None or not SDK.exists():
                pytest.skip("needs node, and `npm ci --ignore-scripts` in tests/clients")
            (folder / "node_modules").symlink_to(SDK)
            (folder / "example.mjs").write_text(example.code, encoding="utf-8")
            return ["node", str(folder / "example.mjs")]
        case _:
            raise AssertionError(f"{example.place}: nothing runs {example.language}")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.place)
def test_an_example_runs_and_prints_what_it_says(
    example: Example, served: Served, tmp_path: Path
) -> None:
    code = example.code.replace(ORIGIN, served.origin)
    if "curl" in code and shutil.which("curl") is None:
        pytest.skip("needs curl")
    done = subprocess.run(
        command(Example(example.place, example.language, code, None), tmp_path),
        cwd=served.folder,
        env={
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "ZURELAY_API_KEY": served.key,
            "ZURELAY_BASE_URL": served.base_url,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    if example.output is None:
        assert (done.stdout + done.stderr).strip()
        assert '{"error"' not in done.stdout
    else:
        assert done.stdout.strip() == example.output.strip()


def configurations() -> list[tuple[str, str]]:
    """Whole configuration files in the documentation, with their places."""
    return [
        (f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}", match[1])
        for page in PAGES
        for text in [page.read_text(encoding="utf-8")]
        for match in re.finditer(r"^```toml check\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ]


@pytest.mark.parametrize(
    "text", [c[1] for c in configurations()], ids=[c[0] for c in configurations()]
)
def test_a_documented_configuration_passes_the_check(text: str, tmp_path: Path) -> None:
    (tmp_path / "zurelay.toml").write_text(text, encoding="utf-8")
    named = dict.fromkeys(re.findall(r'"\$(\w+)"', text), "sk-0123456789")
    done = subprocess.run(
        [sys.executable, "-m", "zurelay", "check"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], **named},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_pages_a_reader_starts_with_have_examples_in_every_language() -> None:
    languages = {e.language for e in EXAMPLES if e.place.startswith("README.md")}
    assert languages == {"bash", "python", "js"}
    assert any(e.place.startswith("src/zurelay/docs/pages/en/") for e in EXAMPLES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_that_looks_like_an_example_is_one(page: Path) -> None:
    """An info string with a typing error would leave its block unrun."""
    text = page.read_text(encoding="utf-8")
    for info in re.findall(r"^```(\S+ .*)$", text, re.MULTILINE):
        assert re.fullmatch(r"(python|js|bash) run|toml check|text output", info), info

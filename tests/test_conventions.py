"""Rules of the tree that no linter knows. Each failure names the file and the rule."""

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src" / "zurelay"
TESTS = ROOT / "tests"
MAX_LINES = 500

# Vocabulary and data: types and tables that other modules' tests use all the time.
VOCABULARY = {
    "access/accounts.py",
    "api/snapshot.py",
    "app/options.py",
    "catalogue/model.py",
    "catalogue/sandbox.py",
    "chat/events.py",
    "chat/parts.py",
    "chat/profile.py",
    "chat/request.py",
    "chat/usage.py",
    "console/parts.py",
    "docs/parts.py",
    "formats/base.py",
    "live/ports.py",
    "meter/ports.py",
    "meter/record.py",
    "plan/route.py",
    "plan/standing.py",
    "providers/base.py",
    "providers/hosts.py",
    "providers/selfhosted.py",
    "relay/ports.py",
    "relay/job.py",
    "relay/signals.py",
    "relay/timing.py",
    "sandbox/base.py",
    "store/errors.py",
    "store/schema/access.py",
    "store/schema/log.py",
    "store/schema/metadata.py",
    "store/schema/money.py",
    "store/schema/notices.py",
    "store/schema/people.py",
    "upstream/base.py",
}

# They also split text at U+2028, U+0085 and form feeds, which may stand inside one event's data.
SPLITTERS = {"aiter_lines", "iter_lines", "splitlines"}
ALLOWED_SPLITS = {("wire/sse.py", "splitlines")}  # there on bytes, where only CR and LF count

# Put together from halves, so that this file does not hold what it looks for.
FORBIDDEN = tuple(
    left + right
    for left, right in (
        ("/wo", "rk/"),
        ("../sha", "red"),
        ("pypi", ".org"),
        ("pythonhosted", ".org"),
        ("registry.npmjs", ".org"),
        ("/roo", "t/"),
        ("index-", "url http"),
    )
)
BINARY = {".png", ".ico", ".woff2", ".gz"}


def tracked() -> list[Path]:
    """Every file that is in the repository or about to be."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    names = listed.stdout.decode().rstrip("\0").split("\0")
    return [path for name in names if (path := ROOT / name).is_file()]


def modules() -> list[Path]:
    return sorted(SRC.rglob("*.py"))


def told(path: Path) -> str:
    return path.relative_to(SRC).as_posix()


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_every_module_has_its_test_file() -> None:
    missing = [
        told(path)
        for path in modules()
        if not path.name.startswith("__")
        and "migrations" not in path.parts  # run as a whole by the store's tests
        and told(path) not in VOCABULARY
        and not (TESTS / path.relative_to(SRC)).with_name(f"test_{path.name}").exists()
    ]
    assert missing == []


def test_the_list_of_vocabulary_names_only_what_is_there() -> None:
    assert {told(path) for path in modules()} >= VOCABULARY


def test_every_module_says_what_it_is() -> None:
    silent = [
        told(path)
        for path in modules()
        if path.read_text(encoding="utf-8").strip() and not ast.get_docstring(tree(path))
    ]
    assert silent == []


def test_no_file_is_too_long() -> None:
    long = [
        path.relative_to(ROOT).as_posix()
        for path in tracked()
        if path.suffix in {".py", ".mjs", ".js"}
        and path.read_text(encoding="utf-8").count("\n") > MAX_LINES
    ]
    assert long == []


def test_no_call_splits_streams_at_more_than_line_ends() -> None:
    found = [
        f"{told(path)}:{node.lineno} {node.func.attr}"
        for path in modules()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in SPLITTERS
        and (told(path), node.func.attr) not in ALLOWED_SPLITS
    ]
    assert found == []


def test_no_module_is_named_after_a_vague_role() -> None:
    vague = re.compile(r"(^|_)(utils?|helpers?|managers?|common|misc)$")
    assert [told(path) for path in modules() if vague.search(path.stem)] == []
    classes = [
        f"{told(path)} {node.name}"
        for path in modules()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ClassDef)
        and node.name.endswith(("Manager", "Helper", "Util", "Utils"))
    ]
    assert classes == []


def test_no_file_names_a_registry_or_a_place_on_one_machine() -> None:
    found = [
        f"{path.relative_to(ROOT).as_posix()}: {word}"
        for path in tracked()
        if path.suffix not in BINARY
        for word in FORBIDDEN
        if word in path.read_text(encoding="utf-8", errors="replace")
    ]
    assert found == []


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_every_locked_package_has_its_hashes(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
    entries = [line for line in text.split("\n") if line and not line.startswith("#")]
    assert entries
    assert [line for line in entries if "--hash=sha256:" not in line] == []


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = [project["project"]["dependencies"], *project["dependency-groups"].values()]
    names = {re.split(r"[\[<>=~!; ]", wanted)[0] for group in groups for wanted in group}
    reasons = (ROOT / "docs" / "decisions" / "dependencies.md").read_text(encoding="utf-8")
    assert names - set(re.findall(r"^\| `([^`]+)`", reasons, re.MULTILINE)) == set()


def test_decisions_are_numbered_without_gaps_and_say_why() -> None:
    folder = ROOT / "docs" / "decisions"
    records = sorted(folder.glob("[0-9]*.md"))
    assert [int(path.name[:4]) for path in records] == list(range(len(records)))
    for path in records[1:]:
        text = path.read_text(encoding="utf-8")
        for heading in ("## Context", "## Decision", "## Consequences"):
            assert heading in text, f"{path.name} lacks '{heading}'"


def test_links_between_documents_lead_somewhere() -> None:
    broken = [
        f"{path.relative_to(ROOT).as_posix()}: {link}"
        for path in tracked()
        if path.suffix == ".md"
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
        if not (path.parent / link).exists()
    ]
    assert broken == []


def test_no_loop_of_a_test_keeps_the_event_loop_to_itself() -> None:
    """What it waits for may be done in the same loop, which then never gets to it."""
    waits = (ast.Await, ast.AsyncFor, ast.AsyncWith)
    found = [
        f"{path.relative_to(ROOT)}:{loop.lineno}"
        for path in sorted(TESTS.rglob("*.py"))
        for function in ast.walk(tree(path))
        if isinstance(function, ast.AsyncFunctionDef)
        for loop in ast.walk(function)
        if isinstance(loop, ast.While)
        and not any(isinstance(inner, waits) for inner in ast.walk(loop))
    ]
    assert found == []

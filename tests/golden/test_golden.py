"""Every golden case comes out as it is written down."""

import json
from pathlib import Path

import pytest

from tests.golden.render import cases, render


@pytest.mark.parametrize("path", cases(), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_golden(path: Path) -> None:
    case = json.loads(path.read_text("utf-8"))
    assert render(case) == case["expect"]


def test_there_are_cases_of_every_kind() -> None:
    kinds = {json.loads(path.read_text("utf-8"))["kind"] for path in cases()}
    assert kinds == {"request", "stream", "reply", "fault"}

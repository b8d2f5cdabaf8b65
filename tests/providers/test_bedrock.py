"""Bedrock's row and addresses."""

import pytest

from zurelay.providers.bedrock import BEDROCK, address
from zurelay.providers.registry import KINDS


def test_it_is_a_kind() -> None:
    assert KINDS["bedrock"] is BEDROCK


@pytest.mark.parametrize(
    ("region", "url"),
    [
        ("us-east-1", "https://bedrock-runtime.us-east-1.amazonaws.com"),
        ("cn-north-1", "https://bedrock-runtime.cn-north-1.amazonaws.com.cn"),
    ],
)
def test_a_region_has_its_address(region: str, url: str) -> None:
    assert address(region) == url

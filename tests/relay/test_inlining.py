"""Which upstreams get content instead of URLs."""

from dataclasses import replace

import pytest

from zurelay.chat.profile import Profile
from zurelay.formats.base import Ability
from zurelay.providers.base import Kind, Provider
from zurelay.providers.registry import KINDS, SANDBOX
from zurelay.relay.inlining import kinds

IMAGE, PDF, VIDEO = Ability.IMAGE, Ability.PDF, Ability.VIDEO
VENDOR = Kind("v", "V", "openai_chat", "https://api.vendor.test/v1")
PROVIDER = Provider("p", VENDOR, VENDOR.base_url)


@pytest.mark.parametrize(
    ("front", "back", "left"),
    [
        ("openai_chat", "openai_chat", {PDF}),
        ("openai_chat", "openai_responses", {VIDEO}),
        ("openai_chat", "anthropic", {IMAGE, PDF, VIDEO}),
        ("anthropic", "anthropic", {VIDEO}),
        ("openai_chat", "gemini", {IMAGE, PDF, VIDEO}),
    ],
)
def test_hosted_vendors_fetch_what_their_format_can_name(
    front: str, back: str, left: set[Ability]
) -> None:
    assert kinds(front, back, Profile(), PROVIDER) == left


@pytest.mark.parametrize(
    "provider",
    [
        replace(PROVIDER, base_url="http://10.0.0.5:8000/v1"),
        replace(PROVIDER, base_url="https://vendor.test.inside/v1"),
        replace(PROVIDER, kind=replace(VENDOR, hosted=False)),
        Provider("p", KINDS["vllm"], "http://127.0.0.1:8000/v1"),
    ],
)
def test_a_server_of_ones_own_gets_no_url(provider: Provider) -> None:
    assert kinds("openai_chat", "openai_chat", Profile(), provider) == {IMAGE, PDF, VIDEO}


def test_a_region_of_a_vendor_is_the_vendor() -> None:
    region = replace(PROVIDER, base_url="https://eu.api.vendor.test/v1")
    assert kinds("openai_chat", "openai_chat", Profile(), region) == {PDF}


def test_a_vendor_that_fetches_no_images_gets_content() -> None:
    profile = Profile(image_urls=False)
    assert kinds("openai_chat", "openai_chat", profile, PROVIDER) == {IMAGE, PDF, VIDEO}


def test_the_sandbox_needs_no_content() -> None:
    assert (
        kinds("openai_chat", "openai_chat", Profile(), Provider("s", SANDBOX, "sandbox:")) == set()
    )

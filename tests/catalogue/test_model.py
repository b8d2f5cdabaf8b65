"""A model's quirks over the profile of whoever serves it."""

from dataclasses import replace

from zurelay.catalogue.model import Model
from zurelay.chat.profile import Profile

STRICT = Model("m", "M", "lab", "m", quirks={"temperature_max": 1.0})
LOOSE = replace(STRICT, quirks={"temperature_max": 1.5})


def test_each_providers_profile_gets_the_quirks_of_the_model_once() -> None:
    first, second = Profile(seed_field="seed"), Profile(seed_field="random_seed")
    for _ in range(2):
        assert STRICT.profile(first) == Profile(seed_field="seed", temperature_max=1.0)
        assert STRICT.profile(second) == Profile(seed_field="random_seed", temperature_max=1.0)
    assert STRICT.profile(first) is STRICT.profile(first)


def test_a_changed_model_has_its_own_quirks() -> None:
    base = Profile()
    assert STRICT.profile(base).temperature_max == 1.0
    assert LOOSE.profile(base).temperature_max == 1.5
    assert replace(STRICT, quirks={}).profile(base) is base

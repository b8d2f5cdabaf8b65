from dataclasses import replace

from zurelay.access.accounts import Account
from zurelay.access.keys import Key
from zurelay.live.bounds import Bounds, KeyDefaults
from zurelay.meter.limits import Bound

KEY = Key("key_1", "k", "acct_1", "a", b"", "last", 0)
NONE = KeyDefaults(concurrency=None)


def test_a_key_without_limits_has_only_what_protects_a_node() -> None:
    assert Bounds().of(KEY, KeyDefaults(), None) == (
        Bound("key:key_1:here", "key", concurrency=100, shared=False),
    )
    assert Bounds().of(KEY, NONE, None) == ()


def test_what_a_key_says_itself_goes_before_the_defaults() -> None:
    own = replace(KEY, rpm=5, concurrency=2)
    assert Bounds().of(own, KeyDefaults(100, rpm=9, tpm=1000), None) == (
        Bound("key:key_1", "key", rpm=5, tpm=1000, concurrency=2),
    )


def test_account_and_model_have_bounds_of_their_own() -> None:
    owner = Account("acct_1", "a", 0, rpm=50)
    model = Bound("model:m", "model", tpm=7)
    assert Bounds().of(replace(KEY, owner=owner), NONE, model) == (
        Bound("account:acct_1", "account", rpm=50),
        model,
    )
    assert Bounds().of(replace(KEY, owner=Account("acct_1", "a", 0)), NONE, None) == ()


def test_a_changed_key_or_setting_has_new_bounds() -> None:
    bounds = Bounds()
    assert bounds.of(replace(KEY, rpm=5), NONE, None)[0].rpm == 5
    lower = replace(KEY, rpm=4)
    assert bounds.of(lower, NONE, None)[0].rpm == 4
    assert bounds.of(lower, NONE, None) is bounds.of(lower, NONE, None)
    assert bounds.of(lower, KeyDefaults(concurrency=3), None)[1].concurrency == 3


def test_counts_of_tokens_are_limited_apart_and_have_no_tokens() -> None:
    own = replace(KEY, rpm=5, tpm=10, concurrency=2)
    assert Bounds().counting(own, NONE) == (Bound("key:key_1:count", "key", 5),)
    assert Bounds().counting(replace(KEY, tpm=10), KeyDefaults()) == ()

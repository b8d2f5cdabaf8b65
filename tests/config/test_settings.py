from collections.abc import Mapping

from zurelay.config.schema import REQUIRED, settings_of
from zurelay.config.settings import (
    NAMED_TABLES,
    TABLES,
    ProviderSettings,
    Settings,
)


def test_the_default_of_every_setting_is_what_the_dataclass_holds() -> None:
    for name, table in TABLES.items():
        made = getattr(Settings(), name)
        for one in settings_of(table):
            assert getattr(made, one.name) == one.default, (name, one.name)


def test_only_the_kind_of_a_provider_must_be_given() -> None:
    required = {
        (name, one.name)
        for name, table in {**TABLES, **NAMED_TABLES}.items()
        for one in settings_of(table)
        if one.default is REQUIRED
    }
    assert required == {("providers", "kind")}


def test_defaults_pass_their_own_type() -> None:
    for table in (*TABLES.values(), *NAMED_TABLES.values()):
        for one in settings_of(table):
            if one.default is REQUIRED or one.default is None or one.type.secret:
                continue
            value: object = list(one.default) if isinstance(one.default, tuple) else one.default
            if isinstance(one.default, Mapping):
                value = dict(one.default)
            assert one.type.read(value) == one.default, one.name


def test_secrets_stay_out_of_the_repr() -> None:
    made = ProviderSettings(
        kind="openai", api_key="sk-1", api_keys=("sk-2",), headers={"authorization": "sk-3"}
    )
    assert "sk-" not in repr(made)
    assert "sk-" not in repr(Settings(providers={"x": made}))

from pathlib import Path

import pytest
import typer
from msgspec import UNSET

from zurelay.cli.desk import (
    at_desk,
    budget_change,
    budget_form,
    dollars,
    last_day,
    models_of,
    number_change,
    text_change,
)
from zurelay.cli.terminal import Failed
from zurelay.config.faults import ConfigError
from zurelay.office.values import BudgetForm


def test_who_sits_there_is_the_user_of_the_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "ann\x1b[31m")
    with at_desk(None, tmp_path / "data", make=True) as (_, actor):
        assert (actor.name, actor.role, actor.account) == ("cli:ann[31m", "owner", None)

    def nobody() -> str:
        raise KeyError("uid not found")

    monkeypatch.setattr("getpass.getuser", nobody)
    with at_desk(None, tmp_path / "data") as (_, actor):
        assert actor.name == "cli:unknown"


def test_a_desk_goes_by_the_configuration_and_makes_no_store_unasked(tmp_path: Path) -> None:
    config = tmp_path / "zurelay.toml"
    config.write_text('[billing]\nprepaid = true\nzone = "Asia/Tokyo"\n')
    with pytest.raises(Failed), at_desk(config, tmp_path / "data"):
        raise AssertionError
    with at_desk(config, tmp_path / "data", make=True) as (found, _):
        assert (found.prepaid(), found.zone()) == (True, "Asia/Tokyo")
    config.write_text("[billing]\nprepaid = 5\n")
    with pytest.raises(ConfigError), at_desk(config, tmp_path / "data"):
        raise AssertionError


def test_terms_are_read_as_people_type_them() -> None:
    assert budget_form("20.50/month") == BudgetForm("20.50", "month")
    assert budget_change(None) is UNSET
    assert budget_change("none") is None
    assert number_change(None, "--rpm") is UNSET
    assert number_change("none", "--rpm") is None
    assert number_change("60", "--rpm") == 60
    assert text_change(None) is UNSET
    assert text_change("none") is None
    assert text_change("1.5") == "1.5"
    assert models_of("a, b,,a") == ["a", "b"]
    assert last_day("2099-12-31", 0.0) == "2099-12-31"
    assert dollars("12.5", "'USD'") == "12.5"


@pytest.mark.parametrize(
    "call",
    [
        lambda: budget_form("20"),
        lambda: budget_form("x/day"),
        lambda: number_change("0", "--rpm"),
        lambda: number_change("9" * 20, "--rpm"),
        lambda: number_change("-1", "--rpm"),
        lambda: models_of(" ,"),
        lambda: last_day("2020-01-01", 2e9),
        lambda: last_day("tomorrow", 0.0),
        lambda: dollars("0", "'USD'"),
        lambda: dollars("-1", "'USD'"),
    ],
)
def test_terms_that_cannot_be_are_wrong_calls(call: object) -> None:
    with pytest.raises(typer.BadParameter):
        call()  # type: ignore[operator]

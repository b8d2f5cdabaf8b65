from pathlib import Path

import pytest

from zurelay.app.first_start import FIRST_KEY_FILE as WRITTEN
from zurelay.cli.options import FIRST_KEY_FILE, account_id, http_client, opened, settings
from zurelay.cli.terminal import Failed
from zurelay.store.accounts import ensure_account


def test_the_first_key_is_looked_for_where_it_is_written() -> None:
    assert FIRST_KEY_FILE == WRITTEN


def test_looking_into_a_store_never_makes_one(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="there is no store"), opened(None, tmp_path / "data"):
        pass
    assert not (tmp_path / "data").exists()


def test_a_store_is_made_where_that_is_wanted(tmp_path: Path) -> None:
    with opened(None, tmp_path / "data", make=True) as store:
        assert store.path.exists()
    with opened(None, tmp_path / "data") as store, store.read():
        pass


def test_settings_know_their_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert settings(None, Path("elsewhere")).data_dir == Path("elsewhere")


def test_an_account_is_found_by_name_or_id(tmp_path: Path) -> None:
    with opened(None, tmp_path / "data", make=True) as store, store.write() as connection:
        made = ensure_account(connection, "team", "acct_0123456789abcdef", 1000.0)
        assert account_id(connection, "team") == made.id
        assert account_id(connection, made.id) == made.id
        with pytest.raises(Failed, match="no account is called 'nobody'"):
            account_id(connection, "nobody")


def test_commands_go_through_the_proxies_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("https_proxy", "ftp://proxy.example")
    with pytest.raises(ValueError, match="HTTPS_PROXY"):
        http_client()

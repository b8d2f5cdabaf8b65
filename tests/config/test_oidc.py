from pathlib import Path

import pytest

from zurelay.config.faults import ConfigError
from zurelay.config.load import load


def loaded(folder: Path, text: str) -> object:
    path = folder / "zurelay.toml"
    path.write_text(text, encoding="utf-8")
    return load(path, {"SECRET": "very-secret"}, folder).oidc


def test_without_an_issuer_it_is_off(tmp_path: Path) -> None:
    assert getattr(loaded(tmp_path, ""), "issuer", None) == ""


def test_the_secret_comes_from_the_environment_and_stays_out_of_sight(tmp_path: Path) -> None:
    text = '[oidc]\nissuer = "https://login.example.com/"\nclient_id = "z"\nclient_secret = "$SECRET"\n'
    found = loaded(tmp_path, text)
    assert getattr(found, "issuer", None) == "https://login.example.com"
    assert getattr(found, "client_secret", None) == "very-secret"
    assert "very-secret" not in repr(found)


@pytest.mark.parametrize("line", ['issuer = "login.example.com"', "client_id = 5", "isuer = 'x'"])
def test_faults_are_told(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigError):
        loaded(tmp_path, f"[oidc]\n{line}\n")

"""Settings as operators see them: origin, references, and never a secret."""

from pathlib import Path

from zurelay.app.in_force import HIDDEN, in_force
from zurelay.config.load import load
from zurelay.console.parts import SettingShown

FILE = """
[server]
port = 9000
public_url = "$PUBLIC_URL"
trusted_proxies = ["10.0.0.0/8"]
[storage]
url = "postgresql://gateway:hunter2@db/zurelay"
[providers.main]
kind = "openai"
api_key = "$MAIN_KEY"
headers = { x-team = "file:team" }
[models."gpt-6-sol"]
routes = [{ provider = "main", model = "gpt-6-sol" }]
price = { input = "4.00", output = "20.00" }
"""


def shown(folder: Path, text: str) -> dict[str, SettingShown]:
    path = folder / "zurelay.toml"
    path.write_text(text)
    (folder / "team").write_text("secret-team")
    environ = {"PUBLIC_URL": "https://ai.example.com", "MAIN_KEY": "sk-main-secret"}
    found = in_force(load(path, environ, folder / "data"))
    return {f"{one.table}.{one.key}": one for one in found}


def test_a_setting_tells_its_value_and_where_it_comes_from(tmp_path: Path) -> None:
    found = shown(tmp_path, FILE)
    port, grace, url = (
        found[f"server.{key}"] for key in ("port", "shutdown_grace_s", "public_url")
    )
    assert (port.value, port.origin, port.default, port.restart) == ("9000", "file", "8000", True)
    assert (grace.value, grace.origin, grace.source) == ("600", "default", "")
    assert (url.value, url.origin, url.source) == ("https://ai.example.com", "file", "$PUBLIC_URL")
    assert found["server.trusted_proxies"].value == "10.0.0.0/8"
    assert found["limits.rpm"].value == "no limit"


def test_prices_and_routes_stand_as_the_file_has_them(tmp_path: Path) -> None:
    found = shown(tmp_path, FILE)
    assert found["models.gpt-6-sol.price"].value == '{"input":"4.00","output":"20.00"}'
    assert found["models.gpt-6-sol.routes"].value == '[{"provider":"main","model":"gpt-6-sol"}]'
    assert "models.gpt-6-sol.context" not in found


def test_no_secret_is_told_wherever_it_stands(tmp_path: Path) -> None:
    found = shown(tmp_path, FILE)
    told = repr(found)
    for secret in ("hunter2", "sk-main-secret", "secret-team"):
        assert secret not in told
    assert found["storage.url"].value == "postgresql://…@db/zurelay"
    key, headers = found["providers.main.api_keys"], found["providers.main.headers"]
    assert (key.value, key.origin, key.source) == (HIDDEN, "file", "$MAIN_KEY")
    assert (headers.value, headers.source) == (HIDDEN, "file:team")


def test_a_secret_in_the_file_itself_is_not_told(tmp_path: Path) -> None:
    found = shown(tmp_path, FILE.replace("$MAIN_KEY", "sk-plain-secret"))
    assert "sk-plain-secret" not in repr(found)


def test_a_provider_of_the_environment_says_so(tmp_path: Path) -> None:
    settings = load(None, {"OPENAI_API_KEY": "sk-env-secret"}, tmp_path / "data", tmp_path)
    found = {f"{one.table}.{one.key}": one for one in in_force(settings)}
    assert found["providers.openai.api_keys"].origin == "environment"
    assert "sk-env-secret" not in repr(found)

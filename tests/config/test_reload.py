from pathlib import Path

from zurelay.config import diff, load


def changes(tmp_path: Path, old: str, new: str) -> list[str]:
    path = tmp_path / "z.toml"
    settings = []
    for text in (old, new):
        path.write_text(text)
        settings.append(load(path, {"A": "sk-a", "B": "sk-b"}, tmp_path))
    return [str(change) for change in diff(*settings)]


def test_the_same_settings_have_no_changes(tmp_path: Path) -> None:
    text = '[providers.o]\nkind = "openai"\napi_key = "$A"\n[models.m]\nroutes = ["o"]'
    assert changes(tmp_path, text, f"{text}\n# a comment") == []


def test_changed_keys_are_named_without_their_values(tmp_path: Path) -> None:
    old = '[providers.o]\nkind = "openai"\napi_key = "$A"\n[models.m]\nroutes = ["o"]'
    new = '[providers.o]\nkind = "openai"\napi_key = "$B"\n[models.m]\nroutes = ["o", "sandbox"]'
    found = changes(tmp_path, old, new)
    assert found == ["providers.o.api_keys changed", "models.m.routes changed"]


def test_what_needs_a_restart_says_so(tmp_path: Path) -> None:
    found = changes(tmp_path, "", "[server]\nport = 9000\nmax_body_mb = 5")
    assert found == ["server.port changed (needs a restart)", "server.max_body_mb changed"]


def test_tables_that_came_went_or_moved_are_named(tmp_path: Path) -> None:
    a = '[providers.a]\nkind = "ollama"\n'
    b = '[providers.b]\nkind = "ollama"\n'
    assert changes(tmp_path, a, b) == ["providers.a removed", "providers.b added"]
    assert changes(tmp_path, a + b, b + a) == ["providers reordered"]

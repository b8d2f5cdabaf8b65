from zurelay.config.faults import ConfigError, Fault, dotted


def test_a_key_path_is_written_as_toml_writes_it() -> None:
    assert dotted(("server", "port")) == "server.port"
    assert dotted(("models", "gpt-4.1", "routes", 0, "model")) == 'models."gpt-4.1".routes[0].model'


def test_control_characters_of_a_key_do_not_reach_the_terminal() -> None:
    assert dotted(("models", "a\x1b[31m\nb")) == 'models."a\\u001b[31m\\u000ab"'


def test_an_error_shows_every_fault_on_a_line_of_its_own() -> None:
    error = ConfigError([Fault("a.toml", "x.y", "write 1"), Fault("a.toml", "", "not TOML")])
    assert str(error) == "a.toml: x.y: write 1\na.toml: not TOML"

import math

import pytest

from zurelay.config import values as v


def refused(of: v.Type, value: object) -> str:
    with pytest.raises(v.Wrong) as caught:
        of.read(value)
    return str(caught.value)


@pytest.mark.parametrize("value", [True, 1.0, "1", [1], None])
def test_a_whole_number_is_nothing_else(value: object) -> None:
    assert "write a whole number, such as 8000" in refused(v.whole(0, 9, 8000), value)


@pytest.mark.parametrize("value", [-1, 10])
def test_a_number_out_of_range_is_told_the_range(value: object) -> None:
    assert "from 0 to 9" in refused(v.whole(0, 9, 5), value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.5])
def test_a_duration_is_a_finite_number_in_range(value: object) -> None:
    assert "from 0 to 60" in refused(v.seconds(0, 60, 5), value)


def test_a_duration_may_be_whole_or_have_a_fraction() -> None:
    assert v.seconds(0, 60, 5).read(5) == 5.0
    assert v.seconds(0, 60, 5).read(0.25) == 0.25


@pytest.mark.parametrize("value", [1, 0, "true", "yes"])
def test_a_flag_is_true_or_false_without_quotes(value: object) -> None:
    assert "true or false" in refused(v.FLAG, value)


def test_text_from_outside_may_stand_for_a_number_or_a_flag() -> None:
    assert v.whole(0, 9999, 1).read(v.Outside("8000")) == 8000
    assert v.seconds(0, 60, 5).read(v.Outside("2.5")) == 2.5
    assert v.FLAG.read(v.Outside("True")) is True


def test_a_message_never_shows_what_came_from_outside() -> None:
    hidden = v.Outside("SK-very-secret")
    for of in (
        v.whole(0, 9, 5),
        v.seconds(0, 9, 5),
        v.FLAG,
        v.NETWORK,
        v.choice("a", "b"),
        v.word("x"),
        v.address("https://x"),
        v.database(),
        v.listing(v.FLAG, "true"),
    ):
        assert "very-secret" not in refused(of, hidden)


@pytest.mark.parametrize(
    "value",
    [
        "ftp://x",
        "api.openai.com",
        "https://",
        "http://x y",
        "https://[",
        "https://x:99999",
        "http://é",
    ],
)
def test_an_address_must_be_http(value: object) -> None:
    assert 'such as "https://a.example"' in refused(v.address("https://a.example"), value)


def test_an_address_may_not_carry_a_password_or_a_query() -> None:
    assert "user or password" in refused(v.address("https://x"), "https://me:pw@host/v1")
    assert "must not carry ?" in refused(v.address("https://x"), "https://host/v1?key=1")


def test_an_address_loses_its_trailing_slash() -> None:
    assert v.address("https://x").read("https://host/v1/") == "https://host/v1"


@pytest.mark.parametrize("value", ["", "two words", "line\nbreak", "nul\x00", "ключ"])
def test_a_credential_is_visible_ascii_without_spaces(value: object) -> None:
    refused(v.secret("$KEY"), value)


def test_a_credential_loses_the_line_break_of_its_file() -> None:
    assert v.secret("$KEY").read("sk-1\n") == "sk-1"


@pytest.mark.parametrize("address", ["", "postgresql://u:p@h/db", "postgres:///db?host=/run/pg"])
def test_the_database_is_sqlite_or_postgresql(address: str) -> None:
    assert v.database().read(address) == address


@pytest.mark.parametrize("address", ["mysql://u:hunter2@h/db", "u:hunter2@h/db", " "])
def test_another_database_is_refused_without_telling_its_password(address: str) -> None:
    message = refused(v.database(), address)
    assert "postgresql://" in message
    assert "hunter2" not in message


def test_a_network_may_be_a_single_address() -> None:
    assert v.NETWORK.read("10.1.2.3/8") == "10.0.0.0/8"
    assert v.NETWORK.read("::1") == "::1/128"
    refused(v.NETWORK, "10.0.0.0/40")


def test_a_list_names_every_faulty_item() -> None:
    with pytest.raises(v.Wrong) as caught:
        v.listing(v.FLAG, "true").read([1, True, "x"])
    assert [path for path, _ in caught.value.faults] == [(0,), (2,)]


def test_a_list_may_not_repeat_itself() -> None:
    assert "twice" in refused(v.listing(v.text("a"), '"a"'), ["a", "b", "a"])


def test_a_value_with_a_dead_reference_below_is_refused_without_a_second_fault() -> None:
    with pytest.raises(v.Wrong) as caught:
        v.listing(v.text("a"), '"a"').read([{"x": v.UNRESOLVED}, 7])
    assert caught.value.faults == ()


def test_an_unknown_word_gets_the_nearest_or_all() -> None:
    assert v.hint("prot", ["port", "host"]) == ' Did you mean "port"?'
    assert v.hint("zzz", ["port", "host"]) == " Known here: port, host."


@pytest.mark.parametrize("value", ["  ", 3, None])
def test_the_content_of_a_file_is_text(value: object) -> None:
    refused(v.document("file:key.json"), value)


def test_the_content_of_a_file_may_have_lines() -> None:
    assert v.document("file:key.json").read("{\n}") == "{\n}"
    assert v.document("file:key.json").secret


def test_an_address_of_shared_state_is_checked_and_its_password_never_repeated() -> None:
    assert v.VALKEY.read("valkey://:s3cret@cache:6379/1") == "valkey://:s3cret@cache:6379/1"
    assert v.VALKEY.read("") == ""
    assert "begins with none of redis://" in refused(v.VALKEY, "http://:s3cret@cache")
    for wrong in ("valkey://:s3cret@cache/x", "valkey://", 5):
        assert "s3cret" not in refused(v.VALKEY, wrong)


@pytest.mark.parametrize("value", [1.25, 1, "-1", "25%", "1.0000001", "", True])
def test_a_markup_is_a_plain_factor_in_quotes(value: object) -> None:
    assert "factor" in refused(v.FACTOR, value)
    assert v.FACTOR.read("1.25") == "1.25"

import socket

import pytest

from zurelay.app.listening import listen, local_url, reserve
from zurelay.app.options import CannotListenError


def test_an_address_that_is_taken_is_told() -> None:
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(CannotListenError, match=f"cannot listen on 127.0.0.1:{port}: "):
            listen("127.0.0.1", port)


def test_a_name_that_does_not_exist_is_told() -> None:
    with pytest.raises(CannotListenError, match=r"cannot listen on no\.such\.invalid:0: "):
        listen("no.such.invalid", 0)


def test_who_shares_a_reserved_address_gets_connections_and_the_reservation_none() -> None:
    with reserve("127.0.0.1", 0) as held:
        port = held.getsockname()[1]
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
        with (
            listen("127.0.0.1", port, shared=True) as one,
            listen("127.0.0.1", port, shared=True) as two,
        ):
            taken = {one: 0, two: 0}
            for listener in taken:
                listener.setblocking(False)
            for _ in range(64):
                with socket.create_connection(("127.0.0.1", port)):
                    for listener in taken:
                        try:
                            listener.accept()[0].close()
                        except BlockingIOError:
                            continue
                        taken[listener] += 1
            assert sum(taken.values()) == 64
            assert min(taken.values()) > 5


def test_an_address_is_not_reserved_twice_though_it_could_be_shared() -> None:
    with reserve("127.0.0.1", 0) as held:
        port = held.getsockname()[1]
        with (
            listen("127.0.0.1", port, shared=True),
            pytest.raises(CannotListenError),
        ):
            reserve("127.0.0.1", port)


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::"])
def test_what_listens_everywhere_is_near(host: str) -> None:
    assert local_url(host, 8000) == "http://127.0.0.1:8000"


def test_an_address_of_version_6_stands_in_brackets() -> None:
    assert local_url("::1", 8000) == "http://[::1]:8000"
    assert local_url("10.0.0.7", 80) == "http://10.0.0.7:80"


def test_all_addresses_are_both_versions_where_there_are_both() -> None:
    try:
        made = listen("::", 0)
    except CannotListenError:
        pytest.skip("no IPv6 here")
    with made, socket.create_connection(("127.0.0.1", made.getsockname()[1])):
        pass

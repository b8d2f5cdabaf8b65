import asyncio
import ssl
from pathlib import Path
from typing import Any

import pytest
import trustme
from structlog.testing import capture_logs

from tests.valkey_server import ValkeyServer, valkey
from zurelay.live.valkey import LOST, AwayError, SharedStateError, Valkey
from zurelay.live.valkey_address import ValkeyAddress, parse
from zurelay.wire.resp import ErrorReply, command

SCRIPT = b"return ARGV[1]"
SHA = "098e0f0d1448c0a81dafe820f66d460eb09263da"


class Told:
    """A user that writes down what it hears."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.changed = asyncio.Event()

    def opened(self) -> None:
        self.heard.append("opened")
        self.changed.set()

    def lost(self) -> None:
        self.heard.append("lost")
        self.changed.set()

    async def until(self, *heard: str) -> None:
        async with asyncio.timeout(20):
            while self.heard != list(heard):
                self.changed.clear()
                await self.changed.wait()


async def test_commands_are_answered_in_their_order(shared_valkey: ValkeyServer) -> None:
    connection = Valkey(parse(shared_valkey.url), [SCRIPT])
    await connection.start()
    replies: list[Any] = []
    for number in range(5):
        connection.send(command("ECHO", number), replies.append)
    assert await connection.ask("EVALSHA", SHA, 0, "x") == b"x"
    assert replies == [b"0", b"1", b"2", b"3", b"4"]
    connection.send(command("NO-SUCH"), replies.append)
    with pytest.raises(SharedStateError, match="unknown command"):
        await connection.ask("NO-SUCH")
    assert isinstance(replies[5], ErrorReply)
    await connection.aclose()


async def test_all_of_a_loop_turn_goes_out_in_one_write(
    shared_valkey: ValkeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = Valkey(parse(shared_valkey.url))
    await connection.start()
    await connection.ask("PING")
    link = connection._link
    assert link is not None
    written: list[bytes] = []
    transport = link._transport
    assert transport is not None
    real = transport.write

    class Counting:
        closing = False

        def write(self, data: bytes) -> None:
            written.append(data)
            real(data)

        def is_closing(self) -> bool:
            return self.closing

    counting = Counting()
    monkeypatch.setattr(link, "_transport", counting)
    await asyncio.gather(*(connection.ask("PING") for _ in range(40)))
    assert len(written) == 1
    # What closes in this very turn is written to no more: uvloop would raise.
    counting.closing = True
    connection.send(command("PING"), lambda _: None)
    link._flush()
    assert len(written) == 1
    monkeypatch.undo()
    await connection.aclose()


async def test_messages_are_heard_beside_answers(shared_valkey: ValkeyServer) -> None:
    heard: asyncio.Queue[bytes] = asyncio.Queue()
    one, two = Valkey(parse(shared_valkey.url)), Valkey(parse(shared_valkey.url))
    one.subscribe(b"test:valkey", heard.put_nowait)
    await one.start()
    await two.start()
    assert await one.ask("PING") == b"PONG"
    await two.ask("PUBLISH", "test:valkey", b"news")
    assert await asyncio.wait_for(heard.get(), 10) == b"news"
    await one.aclose()
    await two.aclose()


async def test_a_server_that_ends_is_found_again() -> None:
    with valkey() as server, capture_logs() as logs:
        connection, told = Valkey(parse(server.url), [SCRIPT]), Told()
        connection.use(told)
        await connection.start()
        assert told.heard == ["opened"]
        server.stop()
        await told.until("opened", "lost")
        await asyncio.sleep(0.2)  # connecting is refused meanwhile
        replies: list[Any] = []
        connection.send(command("PING"), replies.append)
        assert replies == [LOST]
        with pytest.raises(AwayError):
            await connection.ask("PING")
        server.start()
        await told.until("opened", "lost", "opened")
        assert [line["event"] for line in logs] == ["shared state is away", "shared state is back"]
        assert await connection.ask("EVALSHA", SHA, 0, "again") == b"again"
        assert connection.reconnects == 2
        await connection.aclose()


async def test_forgotten_scripts_are_loaded_anew() -> None:
    with valkey() as server:
        connection, told = Valkey(parse(server.url), [SCRIPT]), Told()
        connection.use(told)
        await connection.start()
        await connection.ask("SCRIPT", "FLUSH")
        with pytest.raises(SharedStateError, match="NOSCRIPT"):
            await connection.ask("EVALSHA", SHA, 0, "x")
        await told.until("opened", "lost", "opened")
        assert await connection.ask("EVALSHA", SHA, 0, "x") == b"x"
        await connection.aclose()


async def test_a_server_that_goes_silent_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zurelay.live.valkey.STALE_SECONDS", 0.2)
    monkeypatch.setattr("zurelay.live.valkey._WATCH_SECONDS", 0.05)
    monkeypatch.setattr("zurelay.live.valkey.CONNECT_SECONDS", 0.2)
    with valkey() as server:
        connection, told = Valkey(parse(server.url)), Told()
        connection.use(told)
        await connection.start()
        server.freeze()
        with pytest.raises(AwayError):
            await connection.ask("PING")
        await told.until("opened", "lost")
        server.thaw()
        monkeypatch.setattr("zurelay.live.valkey.CONNECT_SECONDS", 5)
        await told.until("opened", "lost", "opened")
        await connection.aclose()


async def test_without_a_server_it_goes_on_and_finds_one_later() -> None:
    with valkey() as server:
        server.stop()
        connection, told = Valkey(parse(server.url)), Told()
        connection.use(told)
        with capture_logs() as logs:
            await connection.start()
        assert not connection.up
        assert [line["event"] for line in logs] == ["shared state is away"]
        server.start()
        await told.until("opened")
        await connection.aclose()
        assert told.heard == ["opened", "lost"]


async def refused(server: ValkeyServer, why: str) -> None:
    with pytest.raises(SharedStateError, match=f"127.0.0.1:{server.port}/0: .*{why}"):
        await Valkey(parse(server.url)).start()


async def test_a_cluster_is_refused(tmp_path: Path) -> None:
    with valkey(cluster_enabled="yes", dir=str(tmp_path)) as server:
        await refused(server, "cluster mode")


async def test_a_server_that_forgets_when_memory_is_short_is_refused() -> None:
    with valkey(maxmemory="100mb", maxmemory_policy="allkeys-lru") as server:
        await refused(server, "set it to noeviction")
    with valkey(maxmemory="100mb", maxmemory_policy="noeviction") as server:
        connection = Valkey(parse(server.url))
        await connection.start()
        await connection.aclose()


async def test_passwords_are_used_and_never_told() -> None:
    with valkey(requirepass="s3cret") as server:
        address = parse(server.url)
        right = Valkey(ValkeyAddress(address.host, address.port, password="s3cret", database=2))
        await right.start()
        assert await right.ask("SET", "a", 1) == b"OK"
        await right.aclose()
        for wrong in ("", "wr0ng"):
            other = Valkey(ValkeyAddress(address.host, address.port, password=wrong))
            with capture_logs() as logs, pytest.raises(SharedStateError) as error:
                await other.start()
            assert "wr0ng" not in f"{error.value} {logs}"


async def test_a_user_without_the_right_to_ask_is_told_to_the_operator_once() -> None:
    with valkey() as server:
        first = Valkey(parse(server.url))
        await first.start()
        await first.ask("ACL", "SETUSER", "node", "on", ">pw", "~*", "&*", "+@all", "-info")
        await first.aclose()
        address = parse(server.url)
        with capture_logs() as logs:
            second = Valkey(ValkeyAddress(address.host, address.port, "node", "pw"))
            await second.start()
        assert [line["event"] for line in logs] == ["shared state may not be examined"]
        await second.aclose()


async def test_a_server_that_speaks_otherwise_is_away() -> None:
    async def speak(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(speak, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    connection = Valkey(ValkeyAddress("127.0.0.1", port))
    with capture_logs() as logs:
        await connection.start()
    assert not connection.up
    assert [line["event"] for line in logs] == ["shared state is away"]
    await connection.aclose()
    server.close()
    await server.wait_closed()


async def test_a_certificate_that_nobody_vouches_for_is_refused() -> None:
    authority = trustme.CA()
    with authority.issue_cert("localhost").private_key_and_cert_chain_pem.tempfile() as cert:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert)

        async def speak(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.close()

        server = await asyncio.start_server(speak, "127.0.0.1", 0, ssl=context)
        port = server.sockets[0].getsockname()[1]
        connection = Valkey(ValkeyAddress("localhost", port, tls=True))
        with capture_logs() as logs:
            await connection.start()
        assert "certificate" in logs[0]["why"].lower()
        await connection.aclose()
        server.close()
        await server.wait_closed()


async def test_a_server_can_be_looked_at_without_staying(shared_valkey: ValkeyServer) -> None:
    assert (await Valkey(parse(shared_valkey.url)).examine()).startswith("Valkey 9")
    with valkey() as server:
        server.stop()
        with pytest.raises(SharedStateError):
            await Valkey(parse(server.url)).examine()

"""Names, addresses, proxies and TLS, and how each can fail."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme

from tests.upstream.forwarding import ForwardingProxy
from tests.upstream.recorder import Recorder, get, post
from zurelay.testing import ScriptedUpstream, Stall, reply
from zurelay.upstream import dialing
from zurelay.upstream.base import Call, UpstreamError
from zurelay.upstream.client import HttpClient
from zurelay.upstream.proxies import Proxies
from zurelay.upstream.tls import client_context

Troubles = list[dict[str, Any]]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def bundle(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return path


def _server_context(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    return context


@asynccontextmanager
async def _trusting(bundle: Path, **options: Any) -> AsyncIterator[HttpClient]:
    async with HttpClient(context=lambda: client_context(bundle), **options) as client:
        yield client
        await client.aclose()
        assert client.statistics().open == 0


async def _failure(client: HttpClient, call: Call) -> UpstreamError:
    recorder = Recorder()
    client.send(call, recorder)
    await recorder.over()
    assert recorder.error is not None
    assert recorder.error.before_answer
    return recorder.error


@contextmanager
def _unanswering() -> Iterator[int]:
    """A port whose connections never come to be: its queue is full."""
    with socket.socket() as listener, socket.socket() as first, socket.socket() as second:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for sock in (first, second):
            sock.setblocking(False)
            sock.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


def _closed_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
    return port


# Names and addresses.


async def test_a_name_is_resolved(client: HttpClient) -> None:
    async with ScriptedUpstream(reply(b"x")) as upstream:
        url = f"http://localhost:{upstream.port}"
        assert (await client.fetch(get(url))).body == b"x"
        assert upstream.requests[0].headers["host"] == f"localhost:{upstream.port}"


async def test_a_name_that_cannot_be_is_a_dns_error(client: HttpClient) -> None:
    error = await _failure(client, get(f"http://{'a' * 64}.invalid"))
    assert error.kind == "dns"


async def test_a_refused_connection_is_a_connect_error(client: HttpClient) -> None:
    error = await _failure(client, get(f"http://127.0.0.1:{_closed_port()}"))
    assert error.kind == "connect"
    assert "refused" in str(error)


async def test_a_silent_address_meets_the_deadline(client: HttpClient) -> None:
    with _unanswering() as port:
        error = await _failure(client, get(f"http://127.0.0.1:{port}", connect_deadline=0.05))
    assert error.kind == "connect_timeout"


async def test_cancelling_while_connecting_leaves_nothing(client: HttpClient) -> None:
    with _unanswering() as port:
        recorder = Recorder()
        handle = client.send(get(f"http://127.0.0.1:{port}"), recorder)
        await asyncio.sleep(0.01)
        handle.cancel()
        await asyncio.sleep(0.01)
        assert client.statistics().connecting == 0
        assert recorder.heard == []


async def test_calls_share_one_lookup_and_outlive_each_others_cancelling(
    client: HttpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0
    resolve = dialing._resolve

    async def counted(host: str, port: int) -> Any:
        nonlocal asked
        asked += 1
        return await resolve(host, port)

    monkeypatch.setattr(dialing, "_resolve", counted)
    async with ScriptedUpstream(answer=lambda _: reply(b"x")) as upstream:
        url = f"http://localhost:{upstream.port}"
        recorders = [Recorder() for _ in range(5)]
        handles = [client.send(get(url), recorder) for recorder in recorders]
        await asyncio.sleep(0)
        handles[0].cancel()
        for recorder in recorders[1:]:
            await recorder.over()
            assert recorder.body == b"x"
        assert asked == 1


async def test_a_second_address_is_tried_beside_a_silent_one(troubles: Troubles) -> None:
    async with ScriptedUpstream() as upstream:
        with _unanswering() as silent:
            sock = await dialing._race(
                [
                    (socket.AF_INET, ("127.0.0.1", silent)),
                    (socket.AF_INET, ("127.0.0.1", upstream.port)),
                ]
            )
            assert sock.getpeername()[1] == upstream.port
            sock.close()


async def test_a_second_address_follows_a_refusal_at_once(troubles: Troubles) -> None:
    loop = asyncio.get_running_loop()
    async with ScriptedUpstream() as upstream:
        started = loop.time()
        sock = await dialing._race(
            [
                (socket.AF_INET, ("127.0.0.1", _closed_port())),
                (socket.AF_INET, ("127.0.0.1", upstream.port)),
            ]
        )
        sock.close()
        assert loop.time() - started < dialing._HEAD_START


async def test_no_address_gives_the_first_ones_reason(troubles: Troubles) -> None:
    places = [(socket.AF_INET, ("127.0.0.1", _closed_port())) for _ in range(2)]
    with pytest.raises(ConnectionRefusedError):
        await dialing._race(places)


async def test_a_race_broken_off_leaves_nothing(troubles: Troubles) -> None:
    with _unanswering() as silent:
        places = [(socket.AF_INET, ("127.0.0.1", silent))] * 2
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(dialing._HEAD_START + 0.05):
                await dialing._race(places)
        await asyncio.sleep(0)


def test_families_take_turns() -> None:
    six = [(socket.AF_INET6, (f"::{n}", 1)) for n in range(3)]
    four = [(socket.AF_INET, ("127.0.0.1", 1))]
    assert dialing._interleaved([six, four]) == [six[0], four[0], six[1], six[2]]
    assert dialing._interleaved([]) == []


async def test_sockets_do_not_wait_and_notice_a_vanished_peer(client: HttpClient) -> None:
    async with ScriptedUpstream(reply()) as upstream:
        await client.fetch(get(upstream.base_url))
        (connection,) = client._connections
        assert connection._transport is not None
        sock = connection._transport.get_extra_info("socket")
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        if hasattr(socket, "TCP_KEEPIDLE"):
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 30


# TLS.


async def test_a_trusted_server_is_spoken_to(
    authority: trustme.CA, bundle: Path, troubles: Troubles
) -> None:
    context = _server_context(authority, "127.0.0.1", "localhost")
    async with (
        ScriptedUpstream(reply(b"1"), reply(b"2"), reply(b"3"), ssl_context=context) as upstream,
        _trusting(bundle) as client,
    ):
        assert (await client.fetch(post(upstream.base_url))).body == b"1"
        assert (await client.fetch(post(upstream.base_url, bytes(1_000_000)))).body == b"2"
        assert upstream.connections == 1
        by_name = f"https://localhost:{upstream.port}"
        assert (await client.fetch(get(by_name))).body == b"3"


async def test_a_wrong_host_is_refused(
    authority: trustme.CA, bundle: Path, troubles: Troubles
) -> None:
    context = _server_context(authority, "other.example")
    async with (
        ScriptedUpstream(ssl_context=context) as upstream,
        _trusting(bundle) as client,
    ):
        error = await _failure(client, get(upstream.base_url))
        assert error.kind == "tls"
        assert "certificate" in str(error) or "IP address" in str(error)
        assert upstream.requests == []
    troubles.clear()  # the server may complain of the alert


async def test_an_unknown_authority_is_refused(
    authority: trustme.CA, client: HttpClient, troubles: Troubles
) -> None:
    context = _server_context(authority, "127.0.0.1")
    async with ScriptedUpstream(ssl_context=context) as upstream:
        error = await _failure(client, get(upstream.base_url))
        assert error.kind == "tls"
        assert upstream.requests == []
    troubles.clear()


async def test_a_server_without_tls_is_refused(client: HttpClient) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    error = await _failure(client, get(f"https://127.0.0.1:{port}"))
    assert error.kind == "tls"
    server.close()
    await server.wait_closed()


async def test_a_handshake_that_never_ends_meets_the_deadline(client: HttpClient) -> None:
    async with ScriptedUpstream() as upstream:
        url = f"https://127.0.0.1:{upstream.port}"
        error = await _failure(client, get(url, connect_deadline=0.05))
        assert error.kind == "connect_timeout"
        await upstream.wait_closed()


async def test_cancelling_in_the_handshake_closes_the_socket(client: HttpClient) -> None:
    async with ScriptedUpstream() as upstream:
        recorder = Recorder()
        handle = client.send(get(f"https://127.0.0.1:{upstream.port}"), recorder)
        await upstream.wait_connections()
        handle.cancel()
        await upstream.wait_closed()
        assert recorder.heard == []


async def test_a_certificate_file_that_cannot_be_read_fails_the_call(troubles: Troubles) -> None:
    async with (
        ScriptedUpstream() as upstream,
        HttpClient(context=lambda: client_context(Path("/nonexistent"))) as client,
    ):
        error = await _failure(client, get(f"https://127.0.0.1:{upstream.port}"))
        assert error.kind == "tls"
        assert "certificates" in str(error)
        await upstream.wait_closed()


async def test_cancelling_a_tls_call_closes_the_socket(
    authority: trustme.CA, bundle: Path, troubles: Troubles
) -> None:
    context = _server_context(authority, "127.0.0.1")
    async with (
        ScriptedUpstream([Stall()], ssl_context=context) as upstream,
        _trusting(bundle) as client,
    ):
        handle = client.send(get(upstream.base_url), Recorder())
        await upstream.wait_requests()
        handle.cancel()
        await upstream.wait_closed()


# Proxies.


def _through(proxy: ForwardingProxy) -> Proxies:
    return Proxies({"ALL_PROXY": proxy.url})


async def test_a_plain_call_goes_through_a_proxy_in_absolute_form(troubles: Troubles) -> None:
    async with (
        ScriptedUpstream(reply(b"1"), reply(b"2")) as upstream,
        ForwardingProxy() as proxy,
        HttpClient(proxies=_through(proxy)) as client,
    ):
        assert (await client.fetch(get(upstream.base_url))).body == b"1"
        assert (await client.fetch(get(upstream.base_url))).body == b"2"
    (head,) = proxy.heads
    assert head.startswith(f"GET {upstream.base_url}/v1/models HTTP/1.1\r\n")
    assert "proxy-authorization: Basic dXNlcjpwYXNz\r\n" in head


@pytest.mark.parametrize("secure", [False, True])
async def test_a_tls_call_goes_through_a_tunnel(
    secure: bool, authority: trustme.CA, bundle: Path, troubles: Troubles
) -> None:
    context = _server_context(authority, "127.0.0.1")
    async with (
        ScriptedUpstream(reply(b"1"), reply(b"2"), ssl_context=context) as upstream,
        ForwardingProxy(context=context if secure else None) as proxy,
        _trusting(bundle, proxies=_through(proxy)) as client,
    ):
        assert (await client.fetch(post(upstream.base_url, bytes(300_000)))).body == b"1"
        assert (await client.fetch(get(upstream.base_url))).body == b"2"
        assert upstream.connections == 1
        assert "proxy-authorization" not in upstream.requests[0].headers
    (head,) = proxy.heads
    assert head.startswith(f"CONNECT 127.0.0.1:{upstream.port} HTTP/1.1\r\n")
    assert "proxy-authorization: Basic dXNlcjpwYXNz\r\n" in head


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "connect", "407"),
        (b"HTTP/1.1 200 OK\r\n\r\nearly bytes", "protocol", "before"),
        (b"nonsense\r\n\r\n", "protocol", "not HTTP"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 20_000, "too_large", "headers"),
    ],
)
async def test_a_proxys_refusal_is_told(
    answer: bytes, kind: str, words: str, troubles: Troubles
) -> None:
    async with (
        ForwardingProxy(refusal=answer) as proxy,
        HttpClient(proxies=_through(proxy)) as client,
    ):
        error = await _failure(client, get("https://upstream.example"))
        assert error.kind == kind
        assert words in str(error)
        await proxy.left.wait()
        assert client.statistics().open == 0


async def test_a_proxy_that_closes_is_told(troubles: Troubles) -> None:
    async with ScriptedUpstream() as nobody, HttpClient() as client:
        client._proxies = Proxies({"ALL_PROXY": nobody.base_url})
        recorder = Recorder()
        client.send(get("https://upstream.example"), recorder)
        await nobody.wait_connections()
        nobody.drop_all()
        await recorder.over()
        assert recorder.kind == "connect"


@pytest.mark.parametrize("wait", ["for the proxy", "for the handshake"])
async def test_cancelling_in_a_tunnel_closes_the_socket(wait: str, troubles: Troubles) -> None:
    async with (
        ScriptedUpstream([Stall()]) as upstream,
        ForwardingProxy(refusal=b"" if wait == "for the proxy" else None) as proxy,
        HttpClient(proxies=_through(proxy)) as client,
    ):
        recorder = Recorder()
        handle = client.send(get(f"https://127.0.0.1:{upstream.port}"), recorder)
        if wait == "for the proxy":
            while not proxy.heads:
                await asyncio.sleep(0)
            handle.cancel()
            await proxy.left.wait()
        else:
            await upstream.wait_connections()
            await asyncio.sleep(0.01)
            handle.cancel()
            await upstream.wait_closed()
        assert recorder.heard == []


async def test_an_excepted_host_is_reached_directly(troubles: Troubles) -> None:
    settings = {"ALL_PROXY": f"http://127.0.0.1:{_closed_port()}", "NO_PROXY": "127.0.0.1"}
    async with ScriptedUpstream(reply(b"x")) as upstream:
        async with HttpClient(proxies=Proxies(settings)) as client:
            assert (await client.fetch(get(upstream.base_url))).body == b"x"
        assert upstream.requests[0].path == "/v1/models"


def test_the_context_verifies(bundle: Path) -> None:
    make: Callable[..., ssl.SSLContext] = client_context
    for context in (make(), make(bundle)):
        assert context.verify_mode is ssl.CERT_REQUIRED
        assert context.check_hostname
        assert context.minimum_version >= ssl.TLSVersion.TLSv1_2

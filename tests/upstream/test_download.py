"""What callers name by URL: nothing inside is ever reached, and every bound holds."""

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from zurelay.testing import ScriptedUpstream, Stall, reply
from zurelay.testing.upstream import Request
from zurelay.upstream.download import Downloader, Unfetchable

PUBLIC, INSIDE = "93.184.215.14", "127.0.0.1"


@asynccontextmanager
async def _downloader(server: ScriptedUpstream, **options: Any) -> AsyncIterator[Downloader]:
    """One that may reach the server's port, and the loopback address by the name `public.test`."""
    port = int(server.base_url.rpartition(":")[2])
    defaults: dict[str, Any] = {
        "ports": (port,),
        "floor": 0.0,
        "allowed": lambda address: address == INSIDE,
    }
    downloader = Downloader(**{**defaults, **options})
    yield downloader
    await downloader.aclose()


def _answers(*addresses: str) -> Callable[[str, int], Any]:
    """A resolver that gives one address after another, the last for ever."""
    left = list(addresses)

    async def resolve(host: str, port: int) -> Any:
        address = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, (address, port))]

    return resolve


@pytest.fixture
async def server(troubles: list[dict[str, Any]]) -> AsyncIterator[ScriptedUpstream]:
    async with ScriptedUpstream() as running:
        yield running


async def test_a_file_is_fetched_with_redirects_followed(server: ScriptedUpstream) -> None:
    server.enqueue(reply(b"", 302, {"location": "/b.png?x=1"}), reply(b"bytes", 200))
    async with _downloader(server) as downloader:
        url = f"{server.base_url}/a.png"
        assert await downloader.fetch([url, url]) == {url: b"bytes"}
    assert [request.path for request in server.requests] == ["/a.png", "/b.png?x=1"]
    assert "authorization" not in server.requests[0].headers


async def test_a_name_goes_out_as_host_while_the_checked_address_is_reached(
    server: ScriptedUpstream,
) -> None:
    server.enqueue(reply(b"bytes", 200))
    port = server.base_url.rpartition(":")[2]
    async with _downloader(server, resolve=_answers(INSIDE)) as downloader:
        await downloader.fetch([f"http://public.test:{port}/a"])
    assert server.requests[0].headers["host"] == f"public.test:{port}"


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://127.0.0.1:{port}/x",
        "http://[::1]:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://2130706433:{port}/",
        "http://0x7f.1:{port}/",
        "http://localhost:{port}/",
        "http://localhost.:{port}/",
        "http://user@127.0.0.1:{port}/",
        "http://0.0.0.0:{port}/",
        "file:///etc/passwd",
        "ftp://127.0.0.1/x",
        "data:text/plain,x",
        "//127.0.0.1/",
        "http:///x",
        "http://127.0.0.1:99999999/",
        "",
    ],
)
async def test_nothing_inside_gets_a_byte(server: ScriptedUpstream, url: str) -> None:
    port = int(server.base_url.rpartition(":")[2])
    downloader = Downloader(ports=(80, 443, port), floor=0.0)
    with pytest.raises(Unfetchable):
        await downloader.fetch([url.format(port=port)])
    await downloader.aclose()
    assert server.connections == 0


async def test_only_the_ports_of_the_web_are_reached(server: ScriptedUpstream) -> None:
    downloader = Downloader(floor=0.0, allowed=lambda _: True)
    with pytest.raises(Unfetchable):
        await downloader.fetch([f"{server.base_url}/a"])
    await downloader.aclose()
    assert server.connections == 0


async def test_a_redirect_is_checked_like_a_first_url(server: ScriptedUpstream) -> None:
    port = int(server.base_url.rpartition(":")[2])
    server.enqueue(reply(b"", 302, {"location": f"http://inside.test:{port}/secret"}))

    async def resolve(host: str, port: int) -> Any:
        return [(socket.AF_INET, (INSIDE if host == "public.test" else "127.0.0.2", port))]

    async with _downloader(server, resolve=resolve) as downloader:
        with pytest.raises(Unfetchable):
            await downloader.fetch([f"http://public.test:{port}/a"])
    assert len(server.requests) == 1


async def test_a_name_that_changes_its_address_is_checked_each_time(
    server: ScriptedUpstream,
) -> None:
    port = int(server.base_url.rpartition(":")[2])
    server.enqueue(reply(b"", 307, {"location": "/again"}))
    # the first answer counts as public here, the second does not
    async with _downloader(server, resolve=_answers(INSIDE, "127.0.0.2")) as downloader:
        with pytest.raises(Unfetchable):
            await downloader.fetch([f"http://rebinding.test:{port}/a"])
    assert [request.path for request in server.requests] == ["/a"]


async def test_one_inner_address_among_public_ones_refuses_the_name(
    server: ScriptedUpstream,
) -> None:
    async def resolve(host: str, port: int) -> Any:
        return [(socket.AF_INET, (INSIDE, port)), (socket.AF_INET, ("127.0.0.2", port))]

    port = int(server.base_url.rpartition(":")[2])
    async with _downloader(server, resolve=resolve) as downloader:
        with pytest.raises(Unfetchable):
            await downloader.fetch([f"http://public.test:{port}/a"])
    assert server.connections == 0


async def test_names_are_looked_up_in_threads_of_their_own(
    server: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def look_up(host: str, port: int, **options: Any) -> Any:
        seen.append(threading.current_thread().name)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (INSIDE, port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    server.enqueue(reply(b"bytes"))
    port = server.base_url.rpartition(":")[2]
    async with _downloader(server) as downloader:
        await downloader.fetch([f"http://slow.test:{port}/a"])
    assert len(seen) == 1
    assert seen[0].startswith("names")


async def test_the_environments_proxy_is_not_used(
    server: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ScriptedUpstream() as proxy:
        monkeypatch.setenv("http_proxy", proxy.base_url)
        server.enqueue(reply(b"bytes", 200))
        async with _downloader(server) as downloader:
            await downloader.fetch([f"{server.base_url}/a"])
        assert proxy.connections == 0


async def test_redirects_are_followed_five_times(server: ScriptedUpstream) -> None:
    def answer(request: Request) -> Any:
        left = int(request.path[1:])
        if not left:
            return reply(b"end", 200)
        return reply(b"", 301, {"location": f"/{left - 1}"})

    async with ScriptedUpstream(answer=answer) as hops, _downloader(hops) as downloader:
        url = f"{hops.base_url}/5"
        assert await downloader.fetch([url]) == {url: b"end"}
        with pytest.raises(Unfetchable):
            await downloader.fetch([f"{hops.base_url}/6"])


@pytest.mark.parametrize(
    "answer",
    [
        reply(b"no", 404),
        reply(b"part", 206),
        reply(b"", 302),
        reply(b"", 302, {"location": "file:///etc/passwd"}),
        reply(b"x" * 11, 200),
    ],
)
async def test_anything_but_a_small_file_is_refused(server: ScriptedUpstream, answer: Any) -> None:
    server.enqueue(answer)
    async with _downloader(server, most=10) as downloader:
        with pytest.raises(Unfetchable):
            await downloader.fetch([f"{server.base_url}/a"])
    assert len(server.requests) == 1


async def test_all_files_of_a_request_share_an_allowance(server: ScriptedUpstream) -> None:
    urls = [f"{server.base_url}/{name}" for name in "abc"]
    server.enqueue(*[reply(b"x" * 10, 200) for _ in urls])
    async with _downloader(server, most_together=30) as downloader:
        assert len(await downloader.fetch(urls)) == 3
    server.enqueue(*[reply(b"x" * 10, 200) for _ in urls])
    async with _downloader(server, most_together=29) as downloader:
        with pytest.raises(Unfetchable):
            await downloader.fetch(urls)


async def test_a_file_that_does_not_come_is_given_up(server: ScriptedUpstream) -> None:
    server.enqueue((Stall(),))
    async with _downloader(server, seconds=0.05) as downloader:
        with pytest.raises(Unfetchable):
            await downloader.fetch([f"{server.base_url}/a"])


async def test_who_stops_waiting_closes_the_connection(server: ScriptedUpstream) -> None:
    server.enqueue((Stall(),))
    async with _downloader(server) as downloader:
        task = asyncio.create_task(downloader.fetch([f"{server.base_url}/a"]))
        while not server.requests:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_refusals_take_the_same_time_wherever_they_come_from(
    server: ScriptedUpstream,
) -> None:
    took = []
    server.enqueue(reply(b"", 404))
    async with _downloader(server, floor=0.1) as downloader:
        for url in (f"{server.base_url}/a", "http://10.0.0.1/", "file:///x"):
            began = time.monotonic()
            with pytest.raises(Unfetchable):
                await downloader.fetch([url])
            took.append(time.monotonic() - began)
    assert min(took) >= 0.09

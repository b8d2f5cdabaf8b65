"""Making connections: names, addresses, proxies, TLS.

Works on any asyncio loop: addresses are raced here (RFC 8305) because not every loop does. Does not
know HTTP beyond the CONNECT of a tunnel, and sets no deadline: the caller cancels.
"""

import asyncio
import os
import socket
import ssl
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any

from typing_extensions import override

from zurelay.upstream.base import ErrorKind, UpstreamError
from zurelay.upstream.pool import Origin
from zurelay.upstream.proxies import Proxy
from zurelay.upstream.url import bracketed, ip_address

# RFC 8305, section 5: how long an address may take before the next is tried beside it.
_HEAD_START = 0.25
# Seconds of silence after which the system asks whether the peer is still there.
_KEEP_ALIVE = 30
_TUNNEL_LIMIT = 16 * 1024

_Address = tuple[socket.AddressFamily, tuple[str, int]]
Resolve = Callable[[str, int], Coroutine[Any, Any, list[_Address]]]
"""Finds the addresses of a host name, for a port."""


class Dialer:
    """Opens connections.

    Args:
        context: gives the TLS context; called for the first connection that needs it.
        allowed: whether an address may be connected to; a host is refused if any of its addresses
            is, and only addresses that were asked about are connected to.
        resolve: finds a name's addresses.
    """

    def __init__(
        self,
        context: Callable[[], ssl.SSLContext],
        allowed: Callable[[str], bool] | None = None,
        resolve: Resolve | None = None,
    ) -> None:
        self._context = context
        self._allowed = allowed
        self._resolve = resolve
        self._lookups: dict[tuple[str, int], asyncio.Task[list[_Address]]] = {}

    async def connect(self, origin: Origin, protocol: asyncio.Protocol) -> None:
        """Connect `protocol` to `origin`; returns when it may write.

        Raises:
            UpstreamError: DNS, CONNECT or TLS.
        """
        proxy = origin.proxy
        host, port = (proxy.host, proxy.port) if proxy else (origin.host, origin.port)
        sock = await self._reach(host, port)
        loop = asyncio.get_running_loop()
        if proxy is not None and origin.scheme == "https":
            await self._through(proxy, sock, origin, protocol, loop)
            return
        secure = proxy.secure if proxy is not None else origin.scheme == "https"
        await self._attach(sock, protocol, host if secure else None, loop)

    def close(self) -> None:
        """Stop look-ups under way."""
        for task in self._lookups.values():
            task.cancel()

    # TCP

    async def _reach(self, host: str, port: int) -> socket.socket:
        literal = ip_address(host)
        if literal is not None:
            family = socket.AF_INET if literal.version == 4 else socket.AF_INET6
            addresses: list[_Address] = [(family, (host, port))]
        else:
            addresses = await self._look_up(host, port)
        if self._allowed is not None and not all(self._allowed(a[0]) for _, a in addresses):
            raise UpstreamError(
                ErrorKind.CONNECT, f"{host} is no host to connect to", before_answer=True
            )
        try:
            return await _race(addresses)
        except OSError as error:
            reason = os.strerror(error.errno).lower() if error.errno else "no address answers"
            raise UpstreamError(
                ErrorKind.CONNECT,
                f"cannot connect to {bracketed(host)}:{port}: {reason}",
                before_answer=True,
            ) from None

    async def _look_up(self, host: str, port: int) -> list[_Address]:
        """Resolve a name; calls that want the same at the same time share one look-up."""
        key = (host, port)
        task = self._lookups.get(key)
        if task is None:
            task = asyncio.get_running_loop().create_task((self._resolve or _resolve)(host, port))
            self._lookups[key] = task
            task.add_done_callback(lambda done: self._looked_up(key, done))
        # shielded: one call's cancellation must not fail the others
        return await asyncio.shield(task)

    def _looked_up(self, key: tuple[str, int], task: asyncio.Task[list[_Address]]) -> None:
        del self._lookups[key]
        if not task.cancelled():
            task.exception()  # seen, even if everyone who asked has gone

    # TLS and tunnels

    async def _attach(
        self,
        sock: socket.socket,
        protocol: asyncio.Protocol,
        host: str | None,
        loop: asyncio.AbstractEventLoop,
    ) -> asyncio.Transport:
        """Give the socket to a transport; with TLS if `host` is whose certificate to expect."""
        try:
            context = None if host is None else self._trusted()
        except UpstreamError:
            sock.close()
            raise
        try:
            transport, _ = await loop.create_connection(
                lambda: protocol, sock=sock, ssl=context, server_hostname=host
            )
        except OSError as error:
            raise _tls_error(host or "", error) from None
        return transport

    async def _through(
        self,
        proxy: Proxy,
        sock: socket.socket,
        origin: Origin,
        protocol: asyncio.Protocol,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        """Have the proxy connect to the origin, then speak TLS inside."""
        tunnel = _Tunnel(loop)
        transport = await self._attach(sock, tunnel, proxy.host if proxy.secure else None, loop)
        inner: asyncio.Transport | None = None
        try:
            transport.write(_connect_request(origin, proxy))
            await tunnel.open
            try:
                inner = await loop.start_tls(
                    transport, protocol, self._trusted(), server_hostname=origin.host
                )
            except OSError as error:
                raise _tls_error(origin.host, error) from None
            assert inner is not None  # noqa: S101 - a closed transport has raised
            protocol.connection_made(inner)
        except BaseException:
            (inner or transport).abort()
            raise

    def _trusted(self) -> ssl.SSLContext:
        try:
            return self._context()
        except OSError:
            raise UpstreamError(
                ErrorKind.TLS, "the trusted certificates cannot be read", before_answer=True
            ) from None


def _tls_error(host: str, error: OSError) -> UpstreamError:
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = error.verify_message or "certificate not valid"
    elif isinstance(error, ssl.SSLError):
        reason = (error.reason or "handshake failed").replace("_", " ").lower()
    else:
        reason = "the connection was closed during the handshake"
    return UpstreamError(ErrorKind.TLS, f"TLS with {host} failed: {reason}", before_answer=True)


def _connect_request(origin: Origin, proxy: Proxy) -> bytes:
    authority = f"{bracketed(origin.host)}:{origin.port}"
    head = f"CONNECT {authority} HTTP/1.1\r\nhost: {authority}\r\n"
    if proxy.authorization is not None:
        head += f"proxy-authorization: {proxy.authorization}\r\n"
    return (head + "\r\n").encode("latin-1")


class _Tunnel(asyncio.Protocol):
    """Waits for a proxy's answer to CONNECT; `open` is done when the tunnel stands."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.open: asyncio.Future[None] = loop.create_future()
        self._received = b""

    @override
    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, rest = self._received.partition(b"\r\n\r\n")
        if not end:
            if len(head) > _TUNNEL_LIMIT:
                self._fail(ErrorKind.TOO_LARGE, "the proxy's headers are larger than allowed")
            return
        version, _, status = head.split(b"\r\n")[0].partition(b" ")
        code = status[:3]
        if not version.startswith(b"HTTP/1.") or not code.isdigit():
            self._fail(ErrorKind.PROTOCOL, "the proxy's answer is not HTTP")
        elif not code.startswith(b"2"):
            self._fail(ErrorKind.CONNECT, f"the proxy refused with status {code.decode()}")
        elif rest:
            self._fail(ErrorKind.PROTOCOL, "the proxy sent bytes before it was spoken to")
        elif not self.open.done():
            self.open.set_result(None)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(ErrorKind.CONNECT, "the proxy closed the connection")

    def _fail(self, kind: ErrorKind, message: str) -> None:
        if not self.open.done():
            self.open.set_exception(UpstreamError(kind, message, before_answer=True))
            self.open.exception()  # seen, even if the call has gone


def resolver(executor: Executor) -> Resolve:
    """The system's resolver in threads of its own, for names that may be slow on purpose."""

    async def resolve(host: str, port: int) -> list[_Address]:
        return await _resolve(host, port, executor)

    return resolve


async def _resolve(host: str, port: int, executor: Executor | None = None) -> list[_Address]:
    loop = asyncio.get_running_loop()
    try:
        if executor is None:
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        else:
            look_up = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
            found = await loop.run_in_executor(executor, look_up)
    except (OSError, UnicodeError):
        raise UpstreamError(
            ErrorKind.DNS, f"the name {host} cannot be resolved", before_answer=True
        ) from None
    by_family: dict[socket.AddressFamily, list[_Address]] = {}
    for family, _, _, _, address in found:
        if family in (socket.AF_INET, socket.AF_INET6):
            by_family.setdefault(family, []).append((family, (str(address[0]), port)))
    return _interleaved(list(by_family.values()))


def _interleaved(families: Sequence[Sequence[_Address]]) -> list[_Address]:
    """One of each family in turn, the resolver's favourite first (RFC 8305, section 4)."""
    longest = max((len(family) for family in families), default=0)
    return [family[i] for i in range(longest) for family in families if i < len(family)]


async def _race(addresses: Sequence[_Address]) -> socket.socket:
    """Connect to whichever address answers first, starting each a little after the last.

    Raises:
        OSError: none could be reached; the first address's reason.
    """
    if len(addresses) == 1:
        return await _open(addresses[0])
    loop = asyncio.get_running_loop()
    waiting = list(addresses)
    running: set[asyncio.Task[socket.socket]] = set()
    first: OSError | None = None
    winner: socket.socket | None = None
    try:
        while winner is None and (waiting or running):
            if waiting:
                running.add(loop.create_task(_open(waiting.pop(0))))
            done, running = await asyncio.wait(
                running,
                timeout=_HEAD_START if waiting else None,
                return_when=asyncio.FIRST_COMPLETED,
            )
            for task in done:
                error = task.exception()
                if error is None and winner is None:
                    winner = task.result()
                elif error is None:
                    task.result().close()
                elif isinstance(error, OSError):
                    first = first or error
                else:
                    raise error
    finally:
        for task in running:
            task.cancel()
            # closes the socket of one that connected in the same moment
            task.add_done_callback(_close_result)
    if winner is None:
        raise first or OSError("no address")
    return winner


def _close_result(task: asyncio.Task[socket.socket]) -> None:
    if not task.cancelled() and task.exception() is None:
        task.result().close()


async def _open(address: _Address) -> socket.socket:
    family, where = address
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _watch(sock)
        await asyncio.get_running_loop().sock_connect(sock, where)
    except BaseException:
        sock.close()
        raise
    return sock


def _watch(sock: socket.socket) -> None:
    """Have the system notice a peer that vanished while a call waits in silence."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", _KEEP_ALIVE), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        option = getattr(socket, name, None)  # not every system has each
        if option is not None:
            sock.setsockopt(socket.IPPROTO_TCP, option, value)

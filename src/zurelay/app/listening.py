"""The address of a gateway: one socket of its own, or one for each of several processes."""

import socket

from zurelay.app.options import CannotListenError

_BACKLOG = 4096


def listen(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """A listening socket.

    Args:
        host: a name or address; empty for all.
        port: 0 for any.
        shared: other processes of this user listen on the same address, and the system spreads
            connections over them: each has a queue of its own, so none takes more than it serves.

    Raises:
        CannotListenError: the address cannot be listened on.
    """
    made = _bound(host, port, shared=shared)
    made.listen(_BACKLOG)
    return made


def reserve(host: str, port: int) -> socket.socket:
    """A socket that holds the address for processes which share it, and takes no connection.

    Raises:
        CannotListenError: the address cannot be listened on, or somebody listens there already.
    """
    # Who shares an address does not hear that others have it.
    with _bound(host, port) as probe:
        port = probe.getsockname()[1]
    return _bound(host, port, shared=True)


def local_url(host: str, port: int) -> str:
    """Where this machine reaches what listens there."""
    near = "127.0.0.1" if host in ("", "0.0.0.0", "::") else host  # noqa: S104
    return f"http://{f'[{near}]' if ':' in near else near}:{port}"


def _bound(host: str, port: int, *, shared: bool = False) -> socket.socket:
    try:
        found = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, _, _, _, address = found[0]
        made = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise _cannot(host, port, error) from error
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family is socket.AF_INET6:
            both = host in ("", "::") and socket.has_dualstack_ipv6()
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(not both))
        made.bind(address)
    except OSError as error:
        made.close()
        raise _cannot(host, port, error) from error
    return made


def _cannot(host: str, port: int, error: OSError) -> CannotListenError:
    return CannotListenError(f"cannot listen on {host}:{port}: {error.strerror or error}")

"""Which proxy a call goes through, by the customary environment variables.

The environment is handed in as a mapping; nothing is read from the process. Does not know sockets.
"""

import base64
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from zurelay.upstream.url import ascii_host, ip_address

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy.

    Attributes:
        secure: TLS to the proxy itself.
        authorization: value of `proxy-authorization`, None without credentials.
    """

    host: str
    port: int
    secure: bool = False
    authorization: str | None = None


def parse_proxy(url: str, variable: str = "proxy") -> Proxy:
    """Read a proxy's URL; without a scheme it is http.

    Raises:
        ValueError: no http(s) proxy; names `variable`, never the URL: it may hold a password.
    """
    if "://" not in url:
        url = "http://" + url
    try:
        parts = urlsplit(url)
        port = parts.port
        host = ascii_host(parts.hostname or "")
    except ValueError:
        raise ValueError(f"{variable} is not a valid proxy URL") from None
    if parts.scheme not in _PORTS:
        raise ValueError(f"{variable}: only http:// and https:// proxies are supported")
    if not host:
        raise ValueError(f"{variable} names no host")
    authorization = None
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = "Basic " + base64.b64encode(pair.encode()).decode("ascii")
    return Proxy(host, port or _PORTS[parts.scheme], parts.scheme == "https", authorization)


class Proxies:
    """The proxies of one process.

    Args:
        environment: where `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` are looked up;
            the lower-case name wins, an empty value counts as absent. `NO_PROXY` is a list of
            `*`, host names (which stand for their subdomains too), `host:port`, IP addresses and
            networks, parted by commas.

    Raises:
        ValueError: a proxy that would be used is not an http(s) one.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        def setting(name: str) -> str:
            return (environment.get(name.lower()) or environment.get(name) or "").strip()

        self._by_scheme: dict[str, Proxy] = {}
        for scheme in _PORTS:
            for variable in (f"{scheme.upper()}_PROXY", "ALL_PROXY"):
                if value := setting(variable):
                    self._by_scheme[scheme] = parse_proxy(value, variable)
                    break
        self._exceptions = [e for e in setting("NO_PROXY").replace(" ", ",").split(",") if e]

    def lookup(self, scheme: str, host: str, port: int) -> Proxy | None:
        """The proxy for an origin, None for a direct connection."""
        proxy = self._by_scheme.get(scheme)
        if proxy is None or any(_excepts(entry, host, port) for entry in self._exceptions):
            return None
        return proxy


def _excepts(entry: str, host: str, port: int) -> bool:
    if entry == "*":
        return True
    address = ip_address(host)
    if address is not None:
        try:
            if address in ipaddress.ip_network(entry.strip("[]"), strict=False):
                return True
        except ValueError:
            pass  # a name, or an address with a port
    name, colon, digits = entry.rpartition(":")
    if colon and digits.isdigit() and (":" not in name or name.endswith("]")):
        if int(digits) != port:
            return False
        entry = name.strip("[]")
    entry = entry.lower().removeprefix("*").lstrip(".")
    return host == entry or (address is None and host.endswith("." + entry))

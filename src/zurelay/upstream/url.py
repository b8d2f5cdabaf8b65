"""URLs as the client needs them: where to connect and what the request line says.

Knows the URL grammar as far as HTTP clients use it. Does not know connections, proxies or DNS.
"""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}
_REFUSED = re.compile(r"[^\x21-\x7e]")


@dataclass(frozen=True, slots=True)
class Address:
    """An absolute http or https URL, taken apart.

    Attributes:
        host: ASCII, lower-case, IPv6 without brackets.
        target: path and query, as the request line carries them; never empty.
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """Host and port, the port left out where it is the scheme's own: the Host header."""
        if self.port == _PORTS[self.scheme]:
            return bracketed(self.host)
        return f"{bracketed(self.host)}:{self.port}"


def parse_url(url: str) -> Address:
    """Take `url` apart.

    Raises:
        ValueError: not an absolute http(s) URL, user or password in it, or characters that must
            be percent-encoded. The message never repeats the URL: it may hold a key.
    """
    parts = urlsplit(url)
    if parts.scheme not in _PORTS:
        raise ValueError("a URL must start with http:// or https://")
    if parts.username is not None or parts.password is not None:
        raise ValueError("a URL must not hold a user name or password")
    if not parts.hostname:
        raise ValueError("a URL must name a host")
    target = parts.path or "/"
    if parts.query:
        target += "?" + parts.query
    # urlsplit drops tabs and line breaks silently; a URL with one was not meant like that
    if _REFUSED.search(target) or any(c in url for c in "\t\r\n"):
        raise ValueError("a URL's path and query must be percent-encoded")
    port = _PORTS[parts.scheme] if parts.port is None else parts.port
    return Address(parts.scheme, ascii_host(parts.hostname), port, target)


def ascii_host(host: str) -> str:
    """`host` as DNS and the Host header carry it.

    Raises:
        ValueError: no host name can look like that.
    """
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            raise ValueError("a URL's host name is not valid") from None
    if _REFUSED.search(host):
        raise ValueError("a URL's host name is not valid")
    return host.lower()


def bracketed(host: str) -> str:
    """`host` with the brackets IPv6 addresses wear beside a port."""
    return f"[{host}]" if ":" in host else host


def ip_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """`host` if it is an IP address and no name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None

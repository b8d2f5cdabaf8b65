"""Where a Valkey or Redis server is, as `storage.valkey_url` says it.

`redis://[[user]:password@]host[:port][/database]`, or `valkey://` likewise; `rediss://` and
`valkeys://` for TLS. Percent-encoding is undone in user and password.
"""

from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

_SCHEMES = {"redis": False, "valkey": False, "rediss": True, "valkeys": True}
_PORT = 6379
_MOST_DATABASES = 1024


class AddressError(ValueError):
    """It is no such address; the text never holds a password."""


@dataclass(frozen=True, slots=True)
class ValkeyAddress:
    """A server and how to sign in there; `str` of it is fit to be shown."""

    host: str
    port: int = _PORT
    user: str = ""
    password: str = field(default="", repr=False)
    database: int = 0
    tls: bool = False

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'valkeys' if self.tls else 'valkey'}://{host}:{self.port}/{self.database}"


def parse(url: str) -> ValkeyAddress:
    """The address in a URL.

    Raises:
        AddressError: it is none.
    """
    example = "valkey://host:6379/0"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise AddressError(f"no usable URL; write {example}") from None
    if parts.scheme not in _SCHEMES or "://" not in url:
        raise AddressError(f"it begins with none of {', '.join(f'{s}://' for s in _SCHEMES)}")
    if not parts.hostname:
        raise AddressError(f"it names no host; write {example}")
    if parts.query or parts.fragment:
        raise AddressError(f"it takes no ?options; write {example}")
    database = parts.path.strip("/") or "0"
    if not (database.isascii() and database.isdigit()) or int(database) >= _MOST_DATABASES:
        raise AddressError(f"its path is the number of a database; write {example}")
    return ValkeyAddress(
        host=parts.hostname,
        port=_PORT if port is None else port,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        database=int(database),
        tls=_SCHEMES[parts.scheme],
    )

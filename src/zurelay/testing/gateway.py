"""A whole gateway on a free loopback port, inside the test's own event loop.

Everything is real: settings, store, edge, relay. Only the signals of a process are left out.
"""

from collections.abc import Mapping
from pathlib import Path

from zurelay.app.first_start import ensure_first_key
from zurelay.app.options import ServeOptions
from zurelay.app.process import Process
from zurelay.config.load import load
from zurelay.store.engine import Store, open_store


class RunningGateway:
    """The gateway; an async context manager.

    Args:
        folder: an empty folder for the configuration file and the data.
        config: text of the configuration file.
        environ: what `$NAME` in it refers to.

    Attributes:
        key: text of the first key.
        config_path: the file; change it and call `reload`.
    """

    def __init__(
        self, folder: Path, config: str = "", environ: Mapping[str, str] | None = None
    ) -> None:
        self.config_path = folder / "zurelay.toml"
        self.config_path.write_text(config, encoding="utf-8")
        self.data = folder / "data"
        self._environ = dict(environ or {})
        self.key = ""

    @property
    def base_url(self) -> str:
        """Scheme, address and port, without a slash at the end."""
        return f"http://127.0.0.1:{self.process.port}"

    @property
    def headers(self) -> dict[str, str]:
        """The header that carries the first key."""
        return {"authorization": f"Bearer {self.key}"}

    @property
    def store(self) -> Store:
        """Its database."""
        return self._store

    async def reload(self, config: str) -> None:
        """Write another configuration and put it in force."""
        self.config_path.write_text(config, encoding="utf-8")
        await self.process.reload()

    async def __aenter__(self) -> "RunningGateway":
        options = ServeOptions(
            data_dir=self.data,
            config_path=self.config_path,
            host="127.0.0.1",
            port=0,
            environ=self._environ,
            ballast_mb=0,
        )
        settings = load(self.config_path, self._environ, self.data)
        self._store = open_store(self.data, settings.storage.url)
        self.key = ensure_first_key(self._store, 0.0) or ""
        self.process = Process(options, settings, self._store)
        await self.process.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.process.stop(at_once=True)
        await self.process.wait()
        self._store.close()

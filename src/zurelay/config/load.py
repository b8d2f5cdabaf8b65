"""From a file, or from the environment where there is none, to checked settings.

The only module here that decides what is read. Knows nothing of the running gateway.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal

from zurelay.catalogue.load import Catalogue, catalogue, standard
from zurelay.catalogue.load import load as load_models
from zurelay.catalogue.price import CatalogueError
from zurelay.config import aws
from zurelay.config.accounts import default_key, kind_row
from zurelay.config.checks import Checks
from zurelay.config.faults import ConfigError, Fault, dotted
from zurelay.config.log import Log
from zurelay.config.parse import Parsed, parse, read_toml
from zurelay.config.references import References
from zurelay.config.settings import (
    NAMED_TABLES,
    Billing,
    ProviderSettings,
    Server,
    Settings,
    Storage,
)
from zurelay.providers.discover import discover

FILE_NAME = "zurelay.toml"


def load(
    path: Path | None,
    environ: Mapping[str, str],
    data_dir: Path = Path("zurelay-data"),
    folder: Path = Path(),
) -> Settings:
    """Checked settings.

    Args:
        path: the file; None for `zurelay.toml` in `folder` if there is one, else the providers
            found in the environment, else the sandbox alone.
        environ: the environment.
        data_dir: where the embedded store lies.
        folder: the working folder.

    Raises:
        ConfigError: with every fault found.
    """
    if path is None and (folder / FILE_NAME).is_file():
        path = folder / FILE_NAME
    if path is None:
        return _from_environment(environ, data_dir)
    document, faults = read_toml(path)
    if faults:
        raise ConfigError(faults)
    references = References(str(path), path.parent, environ)
    resolved = references.resolve(document)
    parsed = parse(resolved if isinstance(resolved, dict) else {}, str(path))
    overlay = parsed.tables["catalogue"].file
    if overlay:
        references.sources.append(path.parent / overlay)
    models, overlay_faults = _catalogue(overlay, path)
    checks = Checks(str(path), parsed, models, environ)
    faults = [*references.faults, *parsed.faults, *overlay_faults, *checks.faults()]
    if faults:
        raise ConfigError(_in_file_order(faults, document))
    settings = _settings(parsed, "file", data_dir, environ, path, tuple(references.sources))
    return replace(settings, given=_given(document))


def load_storage(path: Path | None, environ: Mapping[str, str], folder: Path = Path()) -> Storage:
    """`[storage]` alone, for commands that need no provider and so none of their secrets.

    Raises:
        ConfigError: the file cannot be read, or this table has a fault.
    """
    storage: Storage = _table(path, environ, folder, "storage", Storage())
    return storage


def load_billing(path: Path | None, environ: Mapping[str, str], folder: Path = Path()) -> Billing:
    """`[billing]` alone, likewise.

    Raises:
        ConfigError: the file cannot be read, or this table has a fault.
    """
    billing: Billing = _table(path, environ, folder, "billing", Billing())
    return billing


def load_log(path: Path | None, environ: Mapping[str, str], folder: Path = Path()) -> Log:
    """`[log]` alone, likewise.

    Raises:
        ConfigError: the file cannot be read, or this table has a fault.
    """
    log: Log = _table(path, environ, folder, "log", Log())
    return log


def load_server(path: Path | None, environ: Mapping[str, str], folder: Path = Path()) -> Server:
    """`[server]` alone, likewise.

    Raises:
        ConfigError: the file cannot be read, or this table has a fault.
    """
    server: Server = _table(path, environ, folder, "server", Server())
    return server


def _table(
    path: Path | None, environ: Mapping[str, str], folder: Path, name: str, default: Any
) -> Any:
    if path is None:
        path = folder / FILE_NAME
        if not path.is_file():
            return default
    document, faults = read_toml(path)
    only = {name: document[name]} if name in document else {}
    references = References(str(path), path.parent, environ)
    resolved = references.resolve(only)
    parsed = parse(resolved if isinstance(resolved, dict) else {}, str(path))
    faults += [*references.faults, *parsed.faults]
    if faults:
        raise ConfigError(faults)
    return parsed.tables[name]


def _in_file_order(faults: list[Fault], document: Mapping[str, object]) -> list[Fault]:
    """The faults table by table as the tables stand in the file."""
    places: list[str] = []
    for name, value in document.items():
        inner = value if isinstance(value, dict) and name in NAMED_TABLES else {}
        places += [dotted((name, below)) for below in inner] + [dotted((name,))]

    def place(fault: Fault) -> int:
        inside = (
            at
            for at, key in enumerate(places)
            if f"{fault.key}.".startswith((f"{key}.", f"{key}["))
        )
        return next(inside, len(places))

    return sorted(faults, key=place)


def load_catalogue(settings: Settings) -> Catalogue:
    """The models known under these settings: the built-in catalogue with the overlay before it.

    Raises:
        ConfigError: the overlay has changed since the settings were loaded, and has a fault.
    """
    if settings.path is None:
        return standard()
    found, faults = _catalogue(settings.catalogue.file, settings.path)
    if faults:
        raise ConfigError(faults)
    return found


def _catalogue(overlay: str, path: Path) -> tuple[Catalogue, list[Fault]]:
    if not overlay:
        return standard(), []
    place = path.parent / overlay
    try:
        models = load_models(place.read_bytes())
    except OSError as error:
        message = f"the file {place} cannot be read: {error.strerror}"
        return standard(), [Fault(str(path), "catalogue.file", message)]
    except CatalogueError as error:
        return standard(), [Fault(str(place), error.path, error.problem)]
    replaced = {(model.vendor, model.id) for model in models}
    rest = (
        model
        for entries in standard().by_vendor.values()
        for model in entries
        if (model.vendor, model.id) not in replaced
    )
    return catalogue((*models, *rest)), []


def _from_environment(environ: Mapping[str, str], data_dir: Path) -> Settings:
    parsed = parse({}, "environment")
    for one in discover(environ):
        parsed.providers[one.name] = ProviderSettings(
            kind=one.kind.name,
            base_url="" if one.base_url == one.kind.base_url else one.base_url,
            api_keys=one.api_keys,
        )
    origin: Literal["environment", "sandbox"] = "environment" if parsed.providers else "sandbox"
    return _settings(parsed, origin, data_dir, environ, None, ())


def _settings(
    parsed: Parsed,
    origin: Literal["file", "environment", "sandbox"],
    data_dir: Path,
    environ: Mapping[str, str],
    path: Path | None,
    sources: tuple[Path, ...],
) -> Settings:
    providers = {name: _keyed(one, environ) for name, one in parsed.providers.items()}
    settings = Settings(
        **parsed.tables,
        providers=providers,
        models=dict(parsed.models),
        origin=origin,
        path=path,
        sources=(() if path is None else (path,)) + tuple(dict.fromkeys(sources)),
        data_dir=data_dir,
    )
    return replace(settings, config_hash=config_hash(settings))


def _keyed(one: ProviderSettings, environ: Mapping[str, str]) -> ProviderSettings:
    """The provider with all its keys in `api_keys`, the vendor's usual variables included."""
    key = one.api_key or ("" if one.api_keys else default_key(one, environ))
    one = replace(one, api_key="", api_keys=(key,)) if key else one
    return aws.completed(one, environ) if kind_row(one.kind).aws_service else one


def _given(document: Mapping[str, Any]) -> Mapping[str, object]:
    """What the file says, by dotted key."""
    given: dict[str, object] = {}
    for name, table in document.items():
        named = name in NAMED_TABLES
        tables = (
            {dotted((name, key)): one for key, one in table.items()} if named else {name: table}
        )
        for path, found in tables.items():
            given |= {f"{path}.{dotted((key,))}": value for key, value in found.items()}
    return given


def config_hash(settings: Settings) -> str:
    """12 hex digits that differ whenever a setting does; places of files do not count."""
    digest = hashlib.sha256()
    outside = {"origin", "path", "sources", "config_hash", "given", "data_dir"}
    for one in fields(settings):
        if one.name not in outside:
            digest.update(repr((one.name, plain(getattr(settings, one.name)))).encode())
    return digest.hexdigest()[:12]


def plain(value: Any) -> Any:
    """A setting as nested tuples that compare and print the same for the same content."""
    if is_dataclass(value):
        return tuple((one.name, plain(getattr(value, one.name))) for one in fields(value))
    if isinstance(value, Mapping):
        return tuple((str(name), plain(item)) for name, item in value.items())
    if isinstance(value, frozenset | set):
        return tuple(sorted(map(repr, value)))
    if isinstance(value, tuple | list):
        return tuple(map(plain, value))
    return value

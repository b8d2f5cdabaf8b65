"""What settings must say together: providers exist, keys are there, models can be reached.

Works on a parsed document and a catalogue; finds all faults. What has a fault of its own already
is left alone, so that nothing is told twice.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from zurelay.catalogue.load import Catalogue
from zurelay.chat.nearest import did_you_mean
from zurelay.config import aws, google, smtp
from zurelay.config import values as v
from zurelay.config.accounts import (
    SANDBOX,
    default_key,
    kind_names,
    kind_row,
    needs_key,
    row,
)
from zurelay.config.faults import Fault, dotted
from zurelay.config.parse import Parsed
from zurelay.config.settings import ModelSettings, ProviderSettings
from zurelay.plan.route import auto_id


@dataclass(frozen=True, slots=True)
class Checks:
    """The checks of one document.

    Attributes:
        file: its name in faults.
        environ: the environment, for the vendors' usual key variables.
    """

    file: str
    parsed: Parsed
    catalogue: Catalogue
    environ: Mapping[str, str]

    def faults(self) -> Iterator[Fault]:
        """Every fault, in file order."""
        usable = True
        for name, one in self.parsed.providers.items():
            found = list(self._provider(name, one))
            usable = usable and not found
            yield from found
        if not self._provider_names():
            yield self._fault(
                (),
                "there is nothing to serve; add a provider, such as [providers.openai] with"
                ' kind = "openai", or leave [sandbox] enabled',
            )
        if ("smtp", "") in self.parsed.whole:
            for key, message in smtp.faults(self.parsed.tables["smtp"]):
                yield self._fault(("smtp", key), message)
        # With a faulty provider nobody can say which models there are.
        usable = usable and all(
            ("providers", name) in self.parsed.whole for name in self.parsed.names["providers"]
        )
        for model_id, model in self.parsed.models.items():
            yield from self._model(model_id, model, known=usable)

    def _fault(self, path: v.Path, message: str) -> Fault:
        return Fault(self.file, dotted(path), message)

    def _provider_names(self) -> tuple[str, ...]:
        names = self.parsed.names["providers"]
        sandbox = self.parsed.tables["sandbox"].enabled and SANDBOX not in names
        return (*names, SANDBOX) if sandbox else names

    def _provider(self, name: str, one: ProviderSettings) -> Iterator[Fault]:
        path = ("providers", name)
        if one.kind not in kind_names():
            yield self._fault((*path, "kind"), f"no such kind.{_hint(one.kind, kind_names())}")
            return
        if ("providers", name) not in self.parsed.whole:
            return
        signs = bool(kind_row(one.kind).aws_service)
        placed = signs or google.is_vertex(one)  # its address follows from other settings
        if not one.base_url and not kind_row(one.kind).base_url and not placed:
            yield self._fault(
                (*path, "base_url"),
                f"it is missing; {kind_row(one.kind).title} has no address of its own: write"
                ' base_url = "https://..."',
            )
        if one.api_key and one.api_keys:
            yield self._fault((*path, "api_keys"), "api_key is there too; write only one of them")
        keyed = one.api_key or one.api_keys or default_key(one, self.environ)
        if not keyed and needs_key(one):
            yield self._fault((*path, "api_key"), _key_missing(one))
        yield from self._cloud(path, one, keyed=bool(keyed))

    def _cloud(self, path: v.Path, one: ProviderSettings, *, keyed: bool) -> Iterator[Fault]:
        """What only accounts at the large clouds have."""
        signs, vertex = bool(kind_row(one.kind).aws_service), google.is_vertex(one)
        found: list[tuple[str, str]] = []
        if signs:
            found += aws.faults(one, self.environ, keyed=keyed)
        if vertex:
            found += google.faults(one, keyed=keyed)
        for at, fields, here in (("AWS", aws.FIELDS, signs), ("Vertex AI", google.FIELDS, vertex)):
            told = f"only accounts at {at} have it; leave it out"
            found += [(key, told) for key in fields if not here and getattr(one, key)]
        for key, message in found:
            yield self._fault((*path, key), message)

    def _model(self, model_id: str, model: ModelSettings, *, known: bool) -> Iterator[Fault]:
        path = ("models", model_id)
        if model_id == auto_id(self.parsed.tables["brand"].wire):
            yield self._fault(path, "this id belongs to the smart choice; see [auto]")
            return
        names = self._provider_names()
        for at, route in enumerate(model.routes or ()):
            if route.provider not in names:
                yield self._fault(
                    (*path, "routes", at),
                    f'no provider is called "{route.provider}".{_hint(route.provider, names)}',
                )
        if not known:
            return
        served = self._served()
        if served is None:
            return
        if (
            model.routes is None
            and model_id not in served
            and ("models", model_id) in (self.parsed.whole)
        ):
            yield self._fault(
                (*path, "routes"),
                "no provider here has this model; write routes = [...] to say how it is reached."
                f"{did_you_mean(model_id, served)}",
            )
        for at, other in enumerate(model.fallbacks):
            if other == model_id:
                message = "a model cannot stand in for itself; take it out"
            elif other not in served:
                message = f'no provider here has "{other}".{_hint(other, served)}'
            else:
                continue
            yield self._fault((*path, "fallbacks", at), message)

    def _served(self) -> Collection[str] | None:
        """Public ids that are served; None if some are known only to self-hosted servers."""
        served: dict[str, None] = {}
        for one in self.parsed.providers.values():
            kind = row(one)
            if not one.catalogue:
                continue
            if kind.lists_models:
                return None
            for model in self.catalogue.by_vendor.get(kind.vendor or "", ()):
                served[model.id] = None
        if SANDBOX in self._provider_names():
            served.update(dict.fromkeys(m.id for m in self.catalogue.by_vendor.get(SANDBOX, ())))
        served.update(dict.fromkeys(n for n, m in self.parsed.models.items() if m.routes))
        return served


def _hint(word: str, known: Collection[str]) -> str:
    return did_you_mean(word, known) or (v.hint(word, known) if len(known) <= 40 else "")


def _key_missing(one: ProviderSettings) -> str:
    variables = kind_row(one.kind).key_variables
    title = kind_row(one.kind).title
    example = variables[0] if variables else "NAME"
    return f'{title} wants a key; write api_key = "${example}" and set that environment variable'

"""Providers from the environment, for a start without a configuration file.

A pure function of the variables; it never reads the process environment itself.
"""

from collections.abc import Iterable, Mapping

from zurelay.providers.base import Kind, Provider
from zurelay.providers.registry import KINDS


def discover(
    environ: Mapping[str, str], kinds: Iterable[Kind] = tuple(KINDS.values())
) -> tuple[Provider, ...]:
    """One provider for each kind with an address and a key that is set, named like it, in order.

    Empty variables count as unset. Addresses come from the rows alone: variables such as
    OPENAI_BASE_URL tell clients where to go, and often point at a gateway.
    """
    found = []
    for kind in kinds:
        key = _key(environ, kind)
        if key and kind.base_url:
            found.append(
                Provider(
                    name=kind.name,
                    kind=kind,
                    base_url=kind.base_url,
                    api_keys=(key,),
                    label=kind.title,
                )
            )
    return tuple(found)


def _key(environ: Mapping[str, str], kind: Kind) -> str:
    """The first key that is set among the kind's variables, or an empty string."""
    values = (environ.get(variable, "").strip() for variable in kind.key_variables)
    return next((value for value in values if value), "")

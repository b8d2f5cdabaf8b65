"""Configuration: one schema, read from TOML and the environment into frozen settings.

`load` gives checked `Settings` or raises `ConfigError` with every fault; `build_table` makes the
routing table; `diff` names what a reload changed. Nothing here runs anything.
"""

from zurelay.config.accounts import providers
from zurelay.config.faults import ConfigError, Fault
from zurelay.config.load import load, load_catalogue
from zurelay.config.reload import Change, diff
from zurelay.config.routing import build_table
from zurelay.config.settings import Settings

__all__ = [
    "Change",
    "ConfigError",
    "Fault",
    "Settings",
    "build_table",
    "diff",
    "load",
    "load_catalogue",
    "providers",
]

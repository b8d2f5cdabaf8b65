"""The command `zurelay`: what an operator types. Every command says its example in `--help`."""

from zurelay.cli.command import main

__all__ = ["main"]

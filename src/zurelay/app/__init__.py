"""The composition root: settings become a running gateway here, and nowhere else."""

from zurelay.app.options import CannotListenError, ServeOptions, Started
from zurelay.app.run import run

__all__ = ["CannotListenError", "ServeOptions", "Started", "run"]

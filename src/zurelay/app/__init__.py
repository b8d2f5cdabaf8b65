"""The composition root: settings become a running gateway here, and nowhere else."""

from zurelay.app.options import CannotListenError, ServeOptions, Started, WorkersError
from zurelay.app.run import run
from zurelay.app.supervisor import supervise

__all__ = ["CannotListenError", "ServeOptions", "Started", "WorkersError", "run", "supervise"]

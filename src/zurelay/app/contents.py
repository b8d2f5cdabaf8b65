"""The keys that messages are encrypted with, as the configuration has them."""

from zurelay.config.log import Log
from zurelay.store.sealing import Sealer


def sealer_of(log: Log) -> Sealer | None:
    """Seals with `content_key` and opens with the ones before, too; None without the first."""
    if not log.content_key:
        return None
    return Sealer((log.content_key, *log.content_previous_keys))

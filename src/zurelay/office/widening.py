"""Whether a change lets a key do more than it could: a rule about terms, without a store."""

from zurelay.access.keys import Key


def widened(old: Key, new: Key) -> str | None:
    """The first limit that allows more now; None if none does."""
    if _more_models(old, new):
        return "models"
    before, after = old.budget, new.budget
    if before is not None and (
        after is None or after.period != before.period or after.usd > before.usd
    ):
        return "budget"
    for name in ("rpm", "tpm", "concurrency", "expires"):
        bound, now = getattr(old, name), getattr(new, name)
        if bound is not None and (now is None or now > bound):
            return name
    return None


def _more_models(old: Key, new: Key) -> bool:
    if old.models is None:
        return False
    if new.models is None:
        return True
    # A pattern `prefix/*` is within another if its prefix is: as an id, its star is one more word.
    return not all(name in old.models or old.may_use(name) for name in new.models)

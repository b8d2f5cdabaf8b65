"""Where signed or encrypted thinking comes from, and so who may read it back.

A proof is bound to an account's realm at one vendor and to the format it came in. Elsewhere it is
refused, or worse, imitated: thinking of another origin is dropped whole. Knows no format.
"""


def origin(realm: str, carrier: str) -> str:
    """The origin of thinking that came from `realm` as `carrier`, such as `openai/responses`."""
    return f"{realm}/{carrier}"


def may_read(found: str | None, realm: str, carrier: str) -> bool:
    """Whether thinking of origin `found` may be sent back to `realm` as `carrier`."""
    return found is not None and bool(realm) and found == origin(realm, carrier)


def is_ours(found: object) -> bool:
    """Whether an origin was written by this gateway; formats of other programs have no slash."""
    return isinstance(found, str) and "/" in found

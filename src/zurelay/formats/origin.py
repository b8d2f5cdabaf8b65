"""Where signed or encrypted thinking comes from, and so who may read it back.

A proof is bound to an account's realm at one vendor and to the format it came in. Elsewhere it is
refused, or worse, imitated: thinking of another origin is dropped whole. An origin reads
`realm/carrier`; the marks of other programs have no slash. Knows no format.
"""


def origin(realm: str, carrier: str) -> str:
    """The origin of thinking that came from `realm` as `carrier`, such as `openai/responses`."""
    return f"{realm}/{carrier}"


def may_read(found: str | None, realm: str, carrier: str) -> bool:
    """Whether thinking of origin `found` may be sent back to `realm` as `carrier`."""
    return found is not None and bool(realm) and found == origin(realm, carrier)


def is_foreign(found: object, realm: str) -> bool:
    """Whether this gateway marked it as of another realm; what it never marked is not foreign."""
    return isinstance(found, str) and "/" in found and found.partition("/")[0] != realm


def carrier(found: object) -> object:
    """What an origin said before this gateway marked it with the realm."""
    return found.partition("/")[2] if isinstance(found, str) and "/" in found else found

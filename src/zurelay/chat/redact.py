"""Takes out of a provider's words what a caller or a log line must not show.

Pure text work. What is secret here comes in as an argument; what looks like a secret anywhere is
known below. Errs on the side of hiding.
"""

import re
from collections.abc import Collection
from functools import lru_cache

MOST_BYTES = 1024
HIDDEN = "[redacted]"

_SHORTEST_SECRET = 4
_SHORTEST_ANYWHERE = 8
_MOST_READ = 16_384

# C0 and C1 controls, direction overrides, zero-width and other invisible characters, surrogates.
_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff]+"
)
_SPACE = re.compile(r"[\t\n\r\x0b\x0c\x85\u2028\u2029]+")

_PATTERNS = (
    # Addresses, with the credentials and queries in them.
    (re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s\"'<>`|]+", re.IGNORECASE), "[url]"),
    (re.compile(r"\bBearer\s+[\w.~+/=*-]+", re.IGNORECASE), f"Bearer {HIDDEN}"),
    # Keys by their usual beginnings, whole or masked with stars or dots.
    (
        re.compile(
            r"\b(?:sk|pk|rk|zk|zka|xai|gsk|fw|tgp_v\d|hf|r8|nvapi|AIza|ya29|csk)"
            r"[-_.*][\w.*-]{6,}"
        ),
        HIDDEN,
    ),
    (re.compile(r"\bAIza[\w-]{10,}"), HIDDEN),
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b"), HIDDEN),
    (re.compile(r"\beyJ[\w-]{5,2000}\.[\w.-]+"), HIDDEN),
    # Organizations, projects and accounts.
    (re.compile(r"\barn:aws[\w-]*:[^\s\"',]+", re.IGNORECASE), "[account]"),
    (
        re.compile(
            r"\b(?:org|organization|proj|acct|ws|wrkspc|user|team)[-_](?=[A-Za-z*]*\d)[A-Za-z0-9*]{6,}"
        ),
        "[account]",
    ),
    (
        re.compile(
            r"\b(projects|organizations|accounts|subscriptions|deployments|tenants)/[\w.~:-]+"
        ),
        r"\1/[account]",
    ),
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE), "[id]"),
    (re.compile(r"\b\d{12}\b"), "[account]"),  # AWS account numbers
    (re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"), "[email]"),
    # Hosts: numeric, and names under endings that are no file or module names in error texts.
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b"), "[host]"),
    (
        re.compile(r"\[?\b(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{0,4}\b\]?(?::\d{1,5})?", re.IGNORECASE),
        "[host]",
    ),
    (re.compile(r"\blocalhost(?::\d{1,5})?\b", re.IGNORECASE), "[host]"),
    (
        re.compile(
            r"\b(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,10}"
            r"(?:com|net|org|io|ai|dev|app|cloud|local|internal|lan|corp|svc|cn|eu|de|fr|uk|us|co)"
            r"(?::\d{1,5})?\b",
            re.IGNORECASE,
        ),
        "[host]",
    ),
)


def redact(text: str, secrets: Collection[str] = ()) -> str:
    """`text` fit to be shown: one line of visible text, at most 1 KB of UTF-8.

    Args:
        text: what a provider said, whatever it may hold.
        secrets: this gateway's own strings that must never show: keys, base URLs, hosts,
            organization and account ids, upstream names. Found in any case; ones of 4 to 7
            characters only as whole words, and shorter ones never, since every text holds them
            by chance. A frozenset is compiled once.
    """
    shortened = len(text) > _MOST_READ
    text = plain(text[:_MOST_READ])
    if shortened:  # what the cut may have left half of a secret goes too
        text = text.rpartition(" ")[0]
    own = _pattern(frozenset(secrets))
    if own is not None:
        text = own.sub(HIDDEN, text)
    for shape, shown in _PATTERNS:
        text = shape.sub(shown, text)
    return cut(text)


@lru_cache(maxsize=16)
def _pattern(secrets: frozenset[str]) -> re.Pattern[str] | None:
    words = [word for word in secrets if len(word) >= _SHORTEST_SECRET]
    words.sort(key=lambda word: (-len(word), word))  # a longer one may begin with a shorter
    return re.compile("|".join(map(_found, words)), re.IGNORECASE) if words else None


def _found(secret: str) -> str:
    """The pattern of one secret; a short one must stand alone, as it may be part of a word."""
    literal = re.escape(secret)
    return rf"(?<!\w){literal}(?!\w)" if len(secret) < _SHORTEST_ANYWHERE else literal


def plain(text: str) -> str:
    """One line of visible characters: breaks become spaces, what cannot be seen goes."""
    return _INVISIBLE.sub("", _SPACE.sub(" ", text)).strip()


def cut(text: str, most: int = MOST_BYTES) -> str:
    """At most `most` bytes of UTF-8, never half a character; a cut text ends with `...`."""
    encoded = text.encode(errors="replace")
    if len(encoded) <= most:
        return text
    return encoded[: most - 3].decode(errors="ignore").rstrip() + "..."

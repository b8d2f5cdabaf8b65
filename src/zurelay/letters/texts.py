"""The texts of mails, and how one is written: greeting nobody, plain, a link on a line of its own.

English stands here; `locale/<language>/*.po` has the others. Values are filled in as they are: a
mail is plain text. Knows no address.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from gettext import NullTranslations
from pathlib import Path
from typing import Final

from zurelay.letters.words import read_words

FOLDER: Final = Path(__file__).parent / "locale"
LANGUAGES: Final = ("en", "nl", "fr")
_WIDTH = 4000
"""Most characters of a value that is filled in."""


def N_(text: str) -> str:  # noqa: N802 - gettext's own word for it
    """Mark a text for the catalogues; it is translated when the mail is written."""
    return text


@dataclass(frozen=True, slots=True)
class Text:
    """A mail's text in English, with `%(name)s` where values come.

    Attributes:
        lines: paragraphs before the link; `after` those behind it.
    """

    subject: str
    lines: Sequence[str]
    after: Sequence[str] = ()


INVITATION: Final = Text(
    N_("You are invited to %(brand)s"),
    (
        N_("%(inviter)s invites you to %(brand)s, to the account %(account)s."),
        N_("Open this link, set a password, and you are in:"),
    ),
    (
        N_("It works once, for 7 days. Whoever has it can use it: pass it on to nobody."),
        N_("If you expected no invitation, leave it unopened."),
    ),
)
PASSWORD: Final = Text(
    N_("A new password for %(brand)s"),
    (N_("Open this link to set a new password for %(email)s:"),),
    (
        N_("It works once, for a day. Whoever has it can use it: pass it on to nobody."),
        N_("If you did not ask for it, do nothing: your password stays as it is."),
    ),
)
QUESTION: Final = Text(
    N_("A question from %(account)s: %(subject)s"),
    (
        N_("%(name)s of the account %(account)s wrote:"),
        "%(body)s",
        N_("Read and answer it here:"),
    ),
    (N_("Until somebody has read it, no more mails come about this question."),),
)
ANSWER: Final = Text(
    N_("An answer to your question: %(subject)s"),
    (N_("There is an answer to the question “%(subject)s”. Read it here:"),),
    (N_("Until it is read, no more mails come about this question."),),
)
TRIAL: Final = Text(
    N_("A mail from %(brand)s"),
    (N_("This is a test. Mails from %(brand)s arrive."),),
)

_FOOT: Final = N_("This mail was written by %(brand)s, %(base_url)s")
_HELP: Final = N_("Questions: %(support_email)s")


def write(
    code: str,
    text: Text,
    *,
    brand: str,
    base_url: str,
    support_email: str = "",
    link: str = "",
    **values: str,
) -> tuple[str, str]:
    """A mail's subject and body.

    Args:
        code: of the language, one of `LANGUAGES`; English for any other.
        text: what it says.
        brand: what the gateway calls itself; may be filled in, like the next two.
        base_url: its address.
        support_email: who helps; may be empty.
        link: stands between `lines` and `after`; may be empty.
        values: what else is filled in.
    """
    words = _words(code if code in LANGUAGES else "en")
    known = {name: value[:_WIDTH] for name, value in values.items()}
    known |= {"brand": brand, "base_url": base_url, "support_email": support_email}

    def said(line: str) -> str:
        return words.gettext(line) % known

    foot = [said(_FOOT)] + ([said(_HELP)] if support_email else [])
    parts = [*map(said, text.lines), *([link] if link else []), *map(said, text.after)]
    body = "\n\n".join([*parts, "-- \n" + "\n".join(foot)])
    return " ".join(said(text.subject).split()), body + "\n"


@cache
def _words(code: str) -> NullTranslations:
    return read_words(code, [FOLDER])

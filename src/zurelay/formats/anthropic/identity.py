"""Who asks, out of `metadata.user_id`, into which Claude Code writes more than a person.

Its JSON (2.1.332, 2026-11-30) and the older `user_..._account_..._session_...` name a session too,
so that the same person would be another one each time. Any other text is the person, as it is.
"""

import re

import msgspec


class _Written(msgspec.Struct):
    device_id: str
    account_uuid: str = ""
    session_id: str = ""


_WRITTEN = msgspec.json.Decoder(_Written)
_OLDER = re.compile(r"user_([0-9a-f]{64})_account_([0-9a-f-]*)_session_([0-9a-f-]+)")


def person(user_id: str | None) -> tuple[str | None, dict[str, str] | None]:
    """The end user, and pairs for the log: `session_id` where one is told."""
    if not user_id:
        return user_id, None
    older = _OLDER.fullmatch(user_id)
    if older is not None:
        device, account, session = older.groups()
    else:
        try:
            written = _WRITTEN.decode(user_id)
        except (UnicodeEncodeError, msgspec.DecodeError):
            return user_id, None
        device, account, session = written.device_id, written.account_uuid, written.session_id
    return account or device or user_id, {"session_id": session} if session else None

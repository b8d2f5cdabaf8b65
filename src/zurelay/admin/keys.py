"""Endpoints for API keys."""

from zurelay.admin.endpoint import Call, Endpoint, ListView, PageQuery, shown
from zurelay.office import contents, keys
from zurelay.office.contents import Forgotten
from zurelay.office.keys import KeyChange, KeyView, MadeKey, NewKey, Rotation
from zurelay.office.values import Name


class KeysQuery(PageQuery, forbid_unknown_fields=True):
    """Which keys."""

    account: Name | None = None


def _list_keys(call: Call) -> object:
    return shown(keys.list_keys(call.parts.desk, call.actor, call.query.page, call.query.account))


def _create_key(call: Call) -> object:
    return keys.create_key(call.parts.desk, call.actor, call.body)


def _get_key(call: Call) -> object:
    return keys.get_key(call.parts.desk, call.actor, call.path["key"])


def _change_key(call: Call) -> object:
    return keys.change_key(call.parts.desk, call.actor, call.path["key"], call.body)


def _revoke_key(call: Call) -> object:
    return keys.revoke_key(call.parts.desk, call.actor, call.path["key"])


def _rotate_key(call: Call) -> object:
    overlap = call.body.overlap_s
    return keys.rotate_key(call.parts.desk, call.actor, call.path["key"], overlap)


def _forget_content(call: Call) -> object:
    return contents.forget(call.parts.desk, call.actor, call.path["key"])


ENDPOINTS = (
    Endpoint(
        "GET",
        "/keys",
        "listKeys",
        "List keys, oldest first, revoked and expired ones too.",
        "keys.read",
        _list_keys,
        ListView[KeyView],
        KeysQuery,
    ),
    Endpoint(
        "POST",
        "/keys",
        "createKey",
        "Make a key; its text is given this once.",
        "keys.change",
        _create_key,
        MadeKey,
        body=NewKey,
        status=201,
    ),
    Endpoint(
        "GET",
        "/keys/{key}",
        "getKey",
        "Get a key by id, beginning of an id, or name.",
        "keys.read",
        _get_key,
        KeyView,
    ),
    Endpoint(
        "PATCH",
        "/keys/{key}",
        "changeKey",
        "Change a key's limits; what is left out stays.",
        "keys.change",
        _change_key,
        KeyView,
        body=KeyChange,
    ),
    Endpoint(
        "POST",
        "/keys/{key}/revoke",
        "revokeKey",
        "Revoke a key for ever, on every node within a second.",
        "keys.change",
        _revoke_key,
        KeyView,
    ),
    Endpoint(
        "POST",
        "/keys/{key}/rotate",
        "rotateKey",
        "Give a key a new text, given this once; the old one works on for a time.",
        "keys.change",
        _rotate_key,
        MadeKey,
        body=Rotation,
    ),
    Endpoint(
        "DELETE",
        "/keys/{key}/content",
        "forgetContent",
        "Delete all messages that are stored of a key's requests, for ever.",
        "keys.change",
        _forget_content,
        Forgotten,
    ),
)

"""Endpoints for accounts, their members, and admin tokens."""

from zurelay.admin.endpoint import Call, Endpoint, ListView, PageQuery, shown
from zurelay.office import accounts, members, tokens
from zurelay.office.accounts import AccountChange, AccountView, NewAccount
from zurelay.office.members import MemberChange, MemberView, NewMember
from zurelay.office.tokens import MadeToken, NewToken, TokenView


def _list_accounts(call: Call) -> object:
    return shown(accounts.list_accounts(call.parts.desk, call.actor, call.query.page))


def _create_account(call: Call) -> object:
    return accounts.create_account(call.parts.desk, call.actor, call.body)


def _get_account(call: Call) -> object:
    return accounts.get_account(call.parts.desk, call.actor, call.path["account"])


def _change_account(call: Call) -> object:
    return accounts.change_account(call.parts.desk, call.actor, call.path["account"], call.body)


def _stop_account(call: Call) -> object:
    return accounts.stop_account(call.parts.desk, call.actor, call.path["account"])


def _resume_account(call: Call) -> object:
    return accounts.resume_account(call.parts.desk, call.actor, call.path["account"])


def _list_members(call: Call) -> object:
    account = call.path["account"]
    return shown(members.list_members(call.parts.desk, call.actor, account, call.query.page))


def _add_member(call: Call) -> object:
    return members.add(call.parts.desk, call.actor, call.path["account"], call.body)


def _change_member(call: Call) -> object:
    account, member = call.path["account"], call.path["member"]
    return members.change_member(call.parts.desk, call.actor, account, member, call.body)


def _remove_member(call: Call) -> object:
    account, member = call.path["account"], call.path["member"]
    return members.remove_member(call.parts.desk, call.actor, account, member)


def _list_tokens(call: Call) -> object:
    return ListView(tokens.list_tokens(call.parts.desk, call.actor))


def _create_token(call: Call) -> object:
    return tokens.create_token(call.parts.desk, call.actor, call.body)


def _revoke_token(call: Call) -> object:
    return tokens.revoke_token(call.parts.desk, call.actor, call.path["token"])


ENDPOINTS = (
    Endpoint(
        "GET",
        "/accounts",
        "listAccounts",
        "List accounts, oldest first.",
        "accounts.read",
        _list_accounts,
        ListView[AccountView],
        PageQuery,
    ),
    Endpoint(
        "POST",
        "/accounts",
        "createAccount",
        "Make an account.",
        "accounts.change",
        _create_account,
        AccountView,
        body=NewAccount,
        status=201,
    ),
    Endpoint(
        "GET",
        "/accounts/{account}",
        "getAccount",
        "Get an account by id or name.",
        "accounts.read",
        _get_account,
        AccountView,
    ),
    Endpoint(
        "PATCH",
        "/accounts/{account}",
        "changeAccount",
        "Change an account's terms; what is left out stays.",
        "accounts.change",
        _change_account,
        AccountView,
        body=AccountChange,
    ),
    Endpoint(
        "POST",
        "/accounts/{account}/stop",
        "stopAccount",
        "Refuse an account's keys, on every node within a second.",
        "accounts.change",
        _stop_account,
        AccountView,
    ),
    Endpoint(
        "POST",
        "/accounts/{account}/resume",
        "resumeAccount",
        "Take an account's keys again.",
        "accounts.change",
        _resume_account,
        AccountView,
    ),
    Endpoint(
        "GET",
        "/accounts/{account}/members",
        "listMembers",
        "List an account's members, oldest first.",
        "members.read",
        _list_members,
        ListView[MemberView],
        PageQuery,
    ),
    Endpoint(
        "POST",
        "/accounts/{account}/members",
        "addMember",
        "Make a person a member of an account.",
        "members.change",
        _add_member,
        MemberView,
        body=NewMember,
        status=201,
    ),
    Endpoint(
        "PATCH",
        "/accounts/{account}/members/{member}",
        "changeMember",
        "Change a member's name or role.",
        "members.change",
        _change_member,
        MemberView,
        body=MemberChange,
    ),
    Endpoint(
        "DELETE",
        "/accounts/{account}/members/{member}",
        "removeMember",
        "Let a person be no member any more.",
        "members.change",
        _remove_member,
        MemberView,
    ),
    Endpoint(
        "GET",
        "/tokens",
        "listTokens",
        "List admin tokens, oldest first.",
        "tokens.read",
        _list_tokens,
        ListView[TokenView],
    ),
    Endpoint(
        "POST",
        "/tokens",
        "createToken",
        "Make an admin token; its text is given this once.",
        "tokens.change",
        _create_token,
        MadeToken,
        body=NewToken,
        status=201,
    ),
    Endpoint(
        "POST",
        "/tokens/{token}/revoke",
        "revokeToken",
        "Revoke an admin token, for ever.",
        "tokens.change",
        _revoke_token,
        TokenView,
    ),
)

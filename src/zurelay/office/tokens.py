"""Admin tokens: for programs that run the gateway, or an account of it."""

from msgspec import Struct

from zurelay.access.keys import RANDOM_BYTES, hash_key, last4
from zurelay.access.tokens import AdminToken, Role, make_token
from zurelay.chat.problems import Refused, not_found
from zurelay.office import values as v
from zurelay.office.accounts import the_account
from zurelay.office.desk import Desk, wrong
from zurelay.office.rights import Actor
from zurelay.store.errors import StoreError
from zurelay.store.tokens import add_token, find_token
from zurelay.store.tokens import list_tokens as read_tokens
from zurelay.store.tokens import revoke_token as write_revoked


class NewToken(Struct, forbid_unknown_fields=True):
    """What a token is made of. One with an account sees nothing else; a member needs one."""

    name: v.Name
    role: Role = "admin"
    account: v.Name | None = None


class TokenView(Struct):
    """An admin token; never its text."""

    id: str
    name: str
    role: str
    account: str | None
    last4: str
    state: str
    created: str
    revoked: str | None


class MadeToken(Struct):
    """A token and its text, which is shown this once."""

    token: str
    details: TokenView


def create_token(desk: Desk, actor: Actor, form: NewToken) -> MadeToken:
    """Make a token. Raises Refused: 400, 403, 404."""
    with desk.change(actor, "tokens.change") as change:
        account = None
        if form.account is not None:
            account = the_account(change.connection, actor, form.account).id
        if form.role == "member" and account is None:
            raise wrong("account", "account: a member's token belongs to one; name it.")
        if form.role in ("owner", "admin") and account is not None:
            message = f"role: an {form.role}'s token is for the whole gateway; write member or"
            raise wrong("role", f"{message} read-only, or leave 'account' out.")
        text = make_token(desk.random(RANDOM_BYTES))
        token = AdminToken(
            id=desk.random_id("tok_"),
            name=v.name_of(form.name),
            role=form.role,
            hash=hash_key(text),
            last4=last4(text),
            created=int(change.now),
            account=account,
        )
        add_token(change.connection, token)
        change.did("token.create", token.id, account, {"name": token.name, "role": token.role})
        return MadeToken(text, view(token))


def list_tokens(desk: Desk, actor: Actor) -> list[TokenView]:
    """Every token, oldest first, revoked ones too. Raises Refused: 403."""
    with desk.read(actor, "tokens.read") as connection:
        return [view(token) for token in read_tokens(connection)]


def revoke_token(desk: Desk, actor: Actor, wanted: str) -> TokenView:
    """Revoke a token for ever; it is refused at its next call. Raises Refused: 403, 404."""
    with desk.change(actor, "tokens.change") as change:
        try:
            token = find_token(change.connection, wanted)
        except StoreError as error:
            said = str(error).partition(";")[0]
            raise Refused(not_found(f"{said[:1].upper()}{said[1:]}.")) from None
        if token.revoked is not None:
            change.did_nothing()
            return view(token)
        revoked = write_revoked(change.connection, token.id, change.now)
        change.did("token.revoke", token.id, token.account, {"name": token.name})
        return view(revoked)


def view(token: AdminToken) -> TokenView:
    """A token as it is shown."""
    return TokenView(
        id=token.id,
        name=token.name,
        role=token.role,
        account=token.account,
        last4=token.last4,
        state="live" if token.revoked is None else "revoked",
        created=v.iso_of(token.created),
        revoked=v.iso(token.revoked),
    )

"""Settings of signing in by OpenID Connect. Part of the schema of settings."""

from dataclasses import dataclass

from zurelay.config import values as v
from zurelay.config.schema import setting


@dataclass(frozen=True, slots=True)
class Oidc:
    """Signing in to the console by an OpenID Connect provider; off without an issuer."""

    issuer: str = setting(
        v.address("https://login.example.com"),
        "",
        "The provider's issuer, exactly as it names itself, without a slash at the end. Where it"
        " sends people back to: `public_url` with `/console/oidc/callback`.",
    )
    client_id: str = setting(v.text("zurelay"), "", "What the provider knows this gateway by.")
    client_secret: str = setting(
        v.secret("$OIDC_CLIENT_SECRET"), "", "The secret it shares with the gateway."
    )
    name: str = setting(
        v.text("Example login", most=60, empty=False),
        "Single sign-on",
        "What the button at the door says.",
    )
    require_verified: bool = setting(
        v.FLAG,
        True,
        "Whether the provider must say that it verified the address. Set it to false only for one"
        " that gives every person their address itself.",
    )

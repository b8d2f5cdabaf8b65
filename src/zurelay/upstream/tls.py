"""How servers are verified: the system's trust store, and more authorities where asked.

Knows TLS settings. Does not know sockets or where the settings come from.
"""

import ssl
from collections.abc import Sequence
from pathlib import Path

import truststore


def client_context(
    extra_ca_bundle: Path | None = None, protocols: Sequence[str] = ("http/1.1",)
) -> ssl.SSLContext:
    """A verifying client context on the operating system's trust store.

    On Linux the process's `SSL_CERT_FILE` and `SSL_CERT_DIR` replace the system's store, as
    OpenSSL does everywhere. Building a context reads files and takes some milliseconds: build one
    and keep it.

    Args:
        extra_ca_bundle: PEM file of authorities trusted besides.
        protocols: offered by ALPN; none for what is not HTTP.

    Raises:
        OSError: the file cannot be read.
        ssl.SSLError: the file holds no certificate.
    """
    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if protocols:
        context.set_alpn_protocols(list(protocols))
    if extra_ca_bundle is not None:
        context.load_verify_locations(cafile=str(extra_ca_bundle))
    return context

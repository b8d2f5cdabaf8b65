"""Servers are verified, by the system's authorities and those asked for besides."""

import ssl
from pathlib import Path

import pytest
import trustme

from zurelay.upstream.tls import client_context


def handshake(context: ssl.SSLContext, authority: trustme.CA, name: str) -> None:
    """Both sides in memory; raises what the client raises."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("good.example").configure_cert(server)
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = context.wrap_bio(to_client, to_server, server_hostname=name)
    theirs = server.wrap_bio(to_server, to_client, server_side=True)
    waiting = [ours, theirs]
    while waiting:
        side = waiting.pop(0)
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            waiting.append(side)


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def bundle(tmp_path: Path, authority: trustme.CA) -> Path:
    path = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(path)
    return path


def test_a_server_of_an_authority_asked_for_is_trusted(authority: trustme.CA, bundle: Path) -> None:
    handshake(client_context(bundle), authority, "good.example")


def test_another_name_is_not(authority: trustme.CA, bundle: Path) -> None:
    with pytest.raises(ssl.SSLError):
        handshake(client_context(bundle), authority, "evil.example")


def test_an_unknown_authority_is_not(authority: trustme.CA) -> None:
    with pytest.raises(ssl.SSLError):
        handshake(client_context(), authority, "good.example")


def test_old_protocols_are_not_spoken() -> None:
    assert client_context().minimum_version is ssl.TLSVersion.TLSv1_2


def test_a_file_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        client_context(tmp_path / "none.pem")

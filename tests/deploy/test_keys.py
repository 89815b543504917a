"""Keys and certificates do what they are for: a TLS handshake, and nothing more."""

import socket
import ssl
import stat
import threading
from pathlib import Path

import pytest

from fidal.deploy.keys import (
    make_authority,
    make_secret,
    make_server,
    make_site_key,
    read_public_key,
)


@pytest.fixture
def authority(tmp_path: Path) -> tuple[Path, Path]:
    pair = tmp_path / "ca.key", tmp_path / "ca.pem"
    make_authority(*pair, "trial")
    return pair


def handshake(server: tuple[Path, Path], ca: Path, name: str) -> None:
    """A client that trusts `ca` alone reaches a server by this name."""
    theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    theirs.load_cert_chain(server[1], server[0])
    ours = ssl.create_default_context(cafile=str(ca))
    ours.verify_flags |= ssl.VERIFY_X509_STRICT
    a, b = socket.socketpair()

    def serve() -> None:
        try:
            theirs.wrap_socket(b, server_side=True).close()
        except (ssl.SSLError, OSError):
            b.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        ours.wrap_socket(a, server_hostname=name).close()
    finally:
        a.close()
        thread.join()


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "fidal.example.org", "10.0.0.7"])
def test_sites_reach_the_coordinator_by_its_names(
    tmp_path: Path, authority: tuple[Path, Path], name: str
) -> None:
    server = tmp_path / "s.key", tmp_path / "s.pem"
    make_server(*server, ["fidal.example.org", "10.0.0.7"], authority)
    handshake(server, authority[1], name)


def test_another_name_or_another_authority_is_refused(
    tmp_path: Path, authority: tuple[Path, Path]
) -> None:
    server = tmp_path / "s.key", tmp_path / "s.pem"
    make_server(*server, [], authority)
    with pytest.raises(ssl.SSLCertVerificationError, match=r"[Hh]ostname mismatch"):
        handshake(server, authority[1], "elsewhere.example.org")
    make_authority(tmp_path / "x.key", tmp_path / "x.pem", "another")
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(server, tmp_path / "x.pem", "localhost")


def test_private_keys_are_for_this_user_alone_and_never_replaced(
    tmp_path: Path, authority: tuple[Path, Path]
) -> None:
    make_site_key(tmp_path / "site.key", tmp_path / "site.pub")
    make_secret(tmp_path / "secret")
    for name in ("ca.key", "site.key", "secret"):
        path = tmp_path / name
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        before = path.read_bytes()
        with pytest.raises(ValueError, match=f"{name} exists; a key is never replaced"):
            if name == "ca.key":
                make_authority(path, tmp_path / "ca.pem", "trial")
            elif name == "site.key":
                make_site_key(path, tmp_path / "site.pub")
            else:
                make_secret(path)
        assert path.read_bytes() == before


def test_a_public_key_is_read_as_flower_registers_it(tmp_path: Path) -> None:
    make_site_key(tmp_path / "site.key", tmp_path / "site.pub")
    assert read_public_key(tmp_path / "site.pub").startswith(b"-----BEGIN PUBLIC KEY-----")
    with pytest.raises(ValueError, match=r"take the file site\.pub"):
        read_public_key(tmp_path / "site.key")

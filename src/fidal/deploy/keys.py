"""Keys and certificates: the coordinator's own authority, its server, and one key per site.

Elliptic curves throughout: P-384, which Flower's SuperNodes authenticate with, serves TLS as well.
Private keys are written for this user alone and never replaced.
"""

import datetime
import ipaddress
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from fidal.storage import write_atomic

YEARS: Final = datetime.timedelta(days=3 * 365)
LOCAL: Final = ("localhost", "127.0.0.1")


def make_site_key(private: Path, public: Path) -> None:
    """A clinic's key pair, in the formats of OpenSSH; the public part goes to the coordinator."""
    key = ec.generate_private_key(ec.SECP384R1())
    encoding = serialization.Encoding.PEM
    _write_private(
        private,
        key.private_bytes(
            encoding, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
        ),
    )
    line = key.public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    )
    write_atomic(public, line + b"\n")


def read_public_key(path: Path) -> bytes:
    """A site's public key as Flower registers it (PEM)."""
    try:
        key = serialization.load_ssh_public_key(path.read_bytes())
    except (ValueError, UnsupportedAlgorithm) as error:
        raise ValueError(
            f"{path} is no public key; take the file site.pub that `fidal site init` wrote"
        ) from error
    if not isinstance(key, ec.EllipticCurvePublicKey):
        raise ValueError(f"{path}: an elliptic-curve key is needed, as `fidal site init` makes it")
    return key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def make_authority(key: Path, certificate: Path, name: str) -> None:
    """The coordinator's own certificate authority: sites trust it and nobody else."""
    private = ec.generate_private_key(ec.SECP384R1())
    subject = _name(f"{name} authority")
    builder = _certificate(subject, subject, private.public_key())
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(_signs_certificates(), critical=True)
    _write_pem(key, private)
    signed = builder.sign(private, hashes.SHA384())
    write_atomic(certificate, signed.public_bytes(serialization.Encoding.PEM))


def make_server(
    key: Path, certificate: Path, names: Sequence[str], authority: tuple[Path, Path]
) -> None:
    """A server certificate for these host names and addresses and for this machine itself.

    `authority` is the key and the certificate of `make_authority`.
    """
    ca_key = serialization.load_pem_private_key(authority[0].read_bytes(), None)
    ca = x509.load_pem_x509_certificate(authority[1].read_bytes())
    assert isinstance(ca_key, ec.EllipticCurvePrivateKey)
    private = ec.generate_private_key(ec.SECP384R1())
    alternatives = [_alternative(name) for name in dict.fromkeys((*LOCAL, *names))]
    builder = _certificate(_name("coordinator"), ca.subject, private.public_key())
    builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), True)
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    builder = builder.add_extension(issuer, critical=False)
    _write_pem(key, private)
    signed = builder.sign(ca_key, hashes.SHA384())
    write_atomic(certificate, signed.public_bytes(serialization.Encoding.PEM))


def make_secret(path: Path) -> None:
    """32 random bytes that one process shares with another of the same user."""
    _write_private(path, os.urandom(32))


def _certificate(
    subject: x509.Name, issuer: x509.Name, public: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    identifier = x509.SubjectKeyIdentifier.from_public_key(public)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + YEARS)
        .add_extension(identifier, critical=False)
    )


def _signs_certificates() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:64])])


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _write_pem(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    _write_private(
        path,
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )


def _write_private(path: Path, content: bytes) -> None:
    """For this user alone. A key that is there already stays: others know its public part."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise ValueError(f"{path} exists; a key is never replaced, move it away first") from error
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())

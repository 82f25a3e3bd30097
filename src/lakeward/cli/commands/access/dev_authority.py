"""A small authority of one's own: certificates for trying encryption out, not for the world.

<directory>/ca.pem, ca.key             the authority: clients trust the first, nobody else gets the second
<directory>/server.pem, server.key     a server
<directory>/alice.pem, alice.key       a client, whose subject is CN=alice
"""

from __future__ import annotations

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from lakeward.cli.input.failures import Failure
from lakeward.runtime.clock import Clock
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.files.private_files import DIRECTORY_MODE, FILE_MODE
from lakeward.runtime.files.whole_file import make_lasting_directory, replace_file

AUTHORITY = "ca"
SERVER = "server"
_PUBLIC_MODE = 0o644
#: A clock of another machine may be a little behind.
_BEFORE = timedelta(hours=1)
_AUTHORITY_NAME = "Lakeward development authority"


class DevAuthority:
    """An authority in a directory; made when it is first needed, and then kept."""

    def __init__(self, directory: Path, clock: Clock, days: int) -> None:
        self._disk = LocalFiles()
        self.directory = directory
        self._begin = datetime.fromtimestamp(clock.now_ms() / 1000, UTC) - _BEFORE
        self._end = self._begin + _BEFORE + timedelta(days=days)
        make_lasting_directory(self._disk, directory, DIRECTORY_MODE)
        self._certificate, self._key = self._kept_authority() or self._new_authority()

    def server(self, hosts: tuple[str, ...]) -> None:
        """Make a certificate for a server that is reached under these names and addresses."""
        names = x509.SubjectAlternativeName([_host(host) for host in hosts])
        self._sign(SERVER, hosts[0], ExtendedKeyUsageOID.SERVER_AUTH, names)

    def client(self, name: str) -> None:
        """Make a certificate for a client of this name."""
        if name in (AUTHORITY, SERVER) or not name.replace("-", "").replace("_", "").isalnum():
            raise Failure(f"'{name}' cannot be the name of a file beside {AUTHORITY} and {SERVER}.")
        self._sign(name, name, ExtendedKeyUsageOID.CLIENT_AUTH)

    def path(self, name: str, kind: str = "pem") -> Path:
        """Where a certificate is, or with "key" its key."""
        return self.directory / f"{name}.{kind}"

    def _kept_authority(self) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey] | None:
        places = self.path(AUTHORITY), self.path(AUTHORITY, "key")
        if not any(map(self._disk.exists, places)):
            return None
        try:
            certificate = x509.load_pem_x509_certificate(self._disk.read_bytes(places[0]))
            key: Any = load_pem_private_key(self._disk.read_bytes(places[1]), None)
        except (OSError, ValueError, TypeError) as wrong:
            raise Failure(
                f"The authority in {self.directory} is not whole ({wrong}); take another directory."
            ) from None
        return certificate, key

    def _new_authority(self) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
        key = _new_key()
        name = _subject(_AUTHORITY_NAME)
        usage = x509.KeyUsage(
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
        built = (
            self._draft(name, name, key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        )
        certificate = built.sign(key, SHA256())
        self._write(AUTHORITY, certificate, key)
        return certificate, key

    def _sign(self, file: str, name: str, use: x509.ObjectIdentifier, *more: x509.ExtensionType) -> None:
        key = _new_key()
        authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        built = (
            self._draft(_subject(name), self._certificate.subject, key)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([use]), critical=False)
            .add_extension(authority, critical=False)
        )
        for extension in more:
            built = built.add_extension(extension, critical=False)
        self._write(file, built.sign(self._key, SHA256()), key)

    def _draft(self, subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        draft = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
        return draft.serial_number(x509.random_serial_number()).not_valid_before(self._begin).not_valid_after(self._end)

    def _write(self, file: str, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
        secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        replace_file(self._disk, self.path(file, "key"), secret, mode=FILE_MODE)
        replace_file(self._disk, self.path(file), certificate.public_bytes(Encoding.PEM), mode=_PUBLIC_MODE)


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _subject(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)

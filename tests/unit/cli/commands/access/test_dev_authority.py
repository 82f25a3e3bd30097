"""An authority of one's own, for trying encryption out."""

from __future__ import annotations

import ssl
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner
from cryptography import x509

from lakeward.cli.commands.access.dev_authority import DevAuthority
from lakeward.cli.input.failures import Failure
from lakeward.cli.main import cli
from lakeward.runtime.clock import SystemClock


def test_keys_are_their_owners_and_certificates_fit_them(tmp_path: Path) -> None:
    """Whoever trusts the authority trusts what it signed; a key is for nobody else to read."""
    done = CliRunner().invoke(cli, ["certs", "dev", "--directory", str(tmp_path / "c"), "--user", "alice"])
    assert done.exit_code == 0, done.output
    for name in ("ca", "server", "alice"):
        assert stat.S_IMODE((tmp_path / "c" / f"{name}.key").stat().st_mode) == 0o600
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(
            tmp_path / "c" / f"{name}.pem", tmp_path / "c" / f"{name}.key"
        )
    authority, server = (certificate(tmp_path / "c" / f"{name}.pem") for name in ("ca", "server"))
    server.verify_directly_issued_by(authority)
    names = server.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    assert {str(one) for one in names.get_values_for_type(x509.IPAddress)} == {"127.0.0.1", "::1"}


def test_an_authority_is_kept(tmp_path: Path) -> None:
    """A second time makes another certificate of the same authority, so those who trust it need nothing new."""
    for host in ("one.example", "two.example"):
        DevAuthority(tmp_path, SystemClock(), days=1).server((host,))
        if host == "one.example":
            before = certificate(tmp_path / "ca.pem")
    assert certificate(tmp_path / "ca.pem") == before
    certificate(tmp_path / "server.pem").verify_directly_issued_by(before)
    assert "two.example" in certificate(tmp_path / "server.pem").subject.rfc4514_string()


@pytest.mark.parametrize("name", ["ca", "server", "../evil", "a/b", ""])
def test_a_user_is_no_other_file(tmp_path: Path, name: str) -> None:
    """A name cannot lead elsewhere, nor replace the authority."""
    authority = DevAuthority(tmp_path / "c", SystemClock(), days=1)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(Failure, match="cannot be the name of a file"):
        authority.client(name)
    assert sorted(tmp_path.rglob("*")) == before


def test_half_an_authority_is_not_replaced(tmp_path: Path) -> None:
    """Somebody may still trust it."""
    DevAuthority(tmp_path, SystemClock(), days=1)
    (tmp_path / "ca.key").unlink()
    with pytest.raises(Failure, match="is not whole"):
        DevAuthority(tmp_path, SystemClock(), days=1)


def certificate(path: Path) -> x509.Certificate:
    """What a file holds."""
    return x509.load_pem_x509_certificate(path.read_bytes())

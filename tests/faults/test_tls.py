"""Encrypted connections to PostgreSQL and to Dask, with certificates of a temporary authority."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import dask
import distributed  # noqa: F401 (adds its defaults to the configuration)
import pytest
from sqlalchemy.engine import URL, make_url

from ravenlab.studies.storage.database import open_storage
from tests.cluster import DaskCluster
from tests.command import refused, run_command
from tests.messages import assert_names
from tests.postgres import Server
from tests.requirements import skip_or_fail

EXTENSIONS = "subjectAltName=IP:127.0.0.1"


def make_certificate(folder: Path, name: str, *more: str) -> Path:
    """Create a key `name`.key and a certificate `name`.pem; self-signed unless `more` names an authority."""
    path = folder / f"{name}.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    files = ["-keyout", str(path.with_suffix(".key")), "-out", str(path), "-subj", f"/CN={name}", "-days", "1"]
    subprocess.run([*command, *files, *more], check=True, capture_output=True)
    return path


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two authorities, `ca` and `other`, and `server`, which the first one has signed."""
    if shutil.which("openssl") is None:
        skip_or_fail("openssl is not installed")
    folder = tmp_path_factory.mktemp("certificates")
    for name in ("ca", "other"):
        make_certificate(folder, name)
    authority = ["-CA", str(folder / "ca.pem"), "-CAkey", str(folder / "ca.key")]
    make_certificate(folder, "server", *authority, "-addext", EXTENSIONS, "-addext", "basicConstraints=CA:FALSE")
    return folder


class TestPostgres:
    @pytest.fixture
    def url(self, certificates: Path, own_postgres: Server) -> Iterator[URL]:
        """A storage on a server that offers TLS."""
        database = own_postgres.new_database()
        open_storage(database, create=True).engine.dispose()
        (data,) = own_postgres.run("SHOW data_directory")[0]
        for name, setting in (("server.pem", "ssl_cert_file"), ("server.key", "ssl_key_file")):
            path = Path(data, name)
            shutil.copy(certificates / name, path)
            path.chmod(0o600)
            shutil.chown(path, Path(data).stat().st_uid, Path(data).stat().st_gid)
            own_postgres.run(f"ALTER SYSTEM SET {setting} = '{path}'")
        own_postgres.run("ALTER SYSTEM SET ssl = on")
        own_postgres.run("SELECT pg_reload_conf()")
        yield make_url(database)
        own_postgres.run("ALTER SYSTEM RESET ssl")
        own_postgres.run("SELECT pg_reload_conf()")

    def test_certificate_of_the_server_is_verified(self, url: URL, certificates: Path, own_postgres: Server) -> None:
        verified = url.update_query_dict({"sslmode": "verify-full", "sslrootcert": str(certificates / "ca.pem")})
        good = verified.render_as_string(hide_password=False)
        storage = open_storage(good, create=False)
        with storage.engine.connect() as connection:
            row = connection.exec_driver_sql("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").one()
        storage.engine.dispose()
        assert row == (True,)
        assert run_command(["studies", f"--storage={good}"])[0] == 0
        wrong = {
            "certificate verify failed": verified.update_query_dict({"sslrootcert": str(certificates / "other.pem")}),
            "does not match": verified.set(host="localhost"),
            "no.pem": verified.update_query_dict({"sslrootcert": "no.pem"}),
        }
        for reason, bad in wrong.items():
            line = refused("studies", f"--storage={bad.render_as_string(hide_password=False)}")
            assert_names(line, "cannot be reached", reason, "sslmode=verify-full")


class TestDask:
    """Dask reads its certificates from its own configuration."""

    @pytest.fixture
    def settings(self, certificates: Path) -> dict[str, str]:
        """Dask's settings for a scheduler, workers and clients with the same certificate."""
        files = {"cert": str(certificates / "server.pem"), "key": str(certificates / "server.key")}
        roles = {f"{role}.{kind}": path for role in ("scheduler", "worker", "client") for kind, path in files.items()}
        return {"ca-file": str(certificates / "ca.pem"), **roles}

    def test_scheduler_with_tls(self, settings: dict[str, str], certificates: Path, tmp_path: Path) -> None:
        variables = {
            f"DASK_DISTRIBUTED__COMM__TLS__{name.upper().replace('-', '_').replace('.', '__')}": path
            for name, path in settings.items()
        }
        cluster = DaskCluster(tmp_path, "tls", variables)
        configured = {f"distributed.comm.tls.{name}": path for name, path in settings.items()}
        words = [*("tune", "blips", "--horizon=20", "--arms=3", "--trials=2", "--replications=2"), "--quiet"]
        words += ["--selection=2", "--report=2", f"--storage=sqlite:///{tmp_path}/studies.sqlite3"]
        try:
            with dask.config.set(configured):
                cluster.start(1)
                code, _, err = run_command([*words, f"--cluster={cluster.address}"])
                assert (code, err) == (0, "")
                with dask.config.set({"distributed.comm.tls.ca-file": str(certificates / "other.pem")}):
                    assert_names(
                        refused(*words, f"--cluster={cluster.address}"), cluster.address, "CERTIFICATE_VERIFY_FAILED"
                    )
            assert_names(refused(*words, f"--cluster={cluster.address}"), cluster.address, "TLS needs certificates")
            with dask.config.set(configured):
                plain = cluster.address.replace("tls:", "tcp:")
                assert_names(refused(*words, f"--cluster={plain}"), plain, "does not answer")
        finally:
            cluster.close()

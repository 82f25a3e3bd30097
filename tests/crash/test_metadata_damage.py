"""Files of the metadata that are lost or damaged after kill -9: all acknowledged tables are there, or nobody starts."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import forked
import pytest
from server_process import ServerProcess

import lakeward

_NAMES = ["fluss.first", "fluss.second", "fluss.third"]
_COLUMNS = "id INT, word STRING"


def deleted(*names: str) -> Callable[[Path], None]:
    """Files or directories that are gone."""

    def spoil(data: Path) -> None:
        for name in names:
            path = data / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()

    return spoil


def cut(name: str, share: float) -> Callable[[Path], None]:
    """A file that ends too early."""

    def spoil(data: Path) -> None:
        content = (data / name).read_bytes().rstrip(b"\0")
        (data / name).write_bytes(content[: int(len(content) * share)])

    return spoil


def flipped(name: str, share: float) -> Callable[[Path], None]:
    """A file with one bit that is not what it was."""

    def spoil(data: Path) -> None:
        path = max(data.glob(name))
        content = bytearray(path.read_bytes())
        content[int(len(content.rstrip(b"\0")) * share)] ^= 4
        path.write_bytes(content)

    return spoil


def both(*spoils: Callable[[Path], None]) -> Callable[[Path], None]:
    """One misfortune after the other."""

    def spoil(data: Path) -> None:
        for one in spoils:
            one(data)

    return spoil


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a server left with three tables and rows in each, some made in an earlier life, that was killed."""
    directory = tmp_path_factory.mktemp("killed") / "data"
    with ServerProcess(directory) as server:
        for number, name in enumerate(_NAMES):
            if number == 2:
                server.restart()
            with lakeward.connect(server.bootstrap) as connection:
                connection.create_table(name, _COLUMNS, buckets=1).append([{"id": number, "word": name}])
    return directory


@pytest.fixture
def server(killed: Path, tmp_path: Path) -> Iterator[ServerProcess]:
    """That server, on a copy of its files, not yet started again."""
    shutil.copytree(killed, tmp_path / "data")
    server = ServerProcess(tmp_path / "data")
    yield server
    server.kill()


def refusal(server: ServerProcess) -> str:
    """What a server says that does not start."""
    command = [sys.executable, "-m", "lakeward", "serve", "--port", "0", "--data-dir", str(server.data_dir)]
    done = forked.run(command)
    assert done.returncode == 1, done.stderr
    assert "ready" not in done.stdout
    return done.stderr


def check_tables(server: ServerProcess) -> None:
    """All tables are there with their rows, and a new one is really new."""
    with lakeward.connect(server.bootstrap) as connection:
        for number, name in enumerate(_NAMES):
            assert connection.table(name).scan().to_arrow().to_pylist() == [{"id": number, "word": name}]
        new = connection.create_table("fluss.new", "other STRING", buckets=1)
        assert new.info.table_id == 3
        assert new.scan().to_arrow().num_rows == 0


ONE_FILE = {
    "metadata.db gone": deleted("metadata.db"),
    "metadata.db empty": cut("metadata.db", 0),
    "metadata.db cut": cut("metadata.db", 0.5),
    "a bit of its head": flipped("metadata.db", 0.0005),
    "a bit of a page": flipped("metadata.db", 0.3),
    "a bit of a later page": flipped("metadata.db", 0.7),
    "a bit of its seal": flipped("metadata.db", 0.9995),
    "journal gone": deleted("metadata.journal"),
    "journal empty": cut("metadata.journal", 0),
    "journal cut": cut("metadata.journal", 0.7),
    "journal cut by a byte": cut("metadata.journal", 0.9999),
    "a bit of the journal's head": flipped("metadata.journal", 0.01),
    "a bit of the journal": flipped("metadata.journal", 0.5),
    "the last bit of the journal": flipped("metadata.journal", 0.99999),
    "identity gone": deleted("metadata.identity"),
    "a bit of the identity": flipped("metadata.identity", 0.5),
    "copies gone": deleted("metadata.copies"),
    "a bit of a copy": flipped("metadata.copies/*.journal", 0.5),
}


@pytest.mark.covering("gone", "cut]", "a bit of a page", "a bit of the journal]", "a bit of a copy")
@pytest.mark.parametrize("spoil", ONE_FILE.values(), ids=ONE_FILE)
def test_one_damaged_file_costs_nothing(server: ServerProcess, spoil: Callable[[Path], None]) -> None:
    """Whichever file is lost or damaged, what was acknowledged is in another; the log says what was found."""
    spoil(server.data_dir)
    server.start()
    check_tables(server)
    assert "is whole in spite of" in server.log_text
    said = server.log_text
    server.restart(kill=True)
    assert "in spite of" not in server.log_text[len(said) :]


def test_the_file_of_another_server_is_not_taken(server: ServerProcess, tmp_path: Path) -> None:
    """A metadata.db that belongs elsewhere is told and set aside."""
    with ServerProcess(tmp_path / "other") as other:
        with lakeward.connect(other.bootstrap) as connection:
            connection.create_table("fluss.theirs", "n BIGINT", buckets=1)
        other.stop()
    theirs = (other.data_dir / "metadata.db").read_bytes()
    (server.data_dir / "metadata.db").write_bytes(theirs)
    server.start()
    check_tables(server)
    assert "belongs to another server" in server.log_text
    assert (server.data_dir / "metadata.db.set-aside").read_bytes() == theirs


def test_all_the_files_of_another_server_are_refused(server: ServerProcess, tmp_path: Path) -> None:
    """A catalog that never heard of the tables whose data is here does not start."""
    with ServerProcess(tmp_path / "other") as other:
        other.stop()
    for path in server.data_dir.glob("metadata.*"):
        deleted(path.name)(server.data_dir)
    for path in other.data_dir.glob("metadata.*"):
        (shutil.copytree if path.is_dir() else shutil.copy)(path, server.data_dir / path.name)
    told = refusal(server)
    assert "never heard of fluss/" in told
    assert "lakeward restore" in told


TOO_MUCH = {
    "all": deleted("metadata.db", "metadata.journal", "metadata.identity", "metadata.copies"),
    "all but an empty metadata.db": both(
        cut("metadata.db", 0), deleted("metadata.journal", "metadata.identity", "metadata.copies")
    ),
    "images": both(deleted("metadata.db"), deleted("metadata.copies")),
    "journals": both(flipped("metadata.journal", 0.6), flipped("metadata.copies/*.journal", 0.6)),
}


@pytest.mark.covering("all]", "journals")
@pytest.mark.parametrize("spoil", TOO_MUCH.values(), ids=TOO_MUCH)
def test_metadata_that_cannot_be_whole_does_not_start(server: ServerProcess, spoil: Callable[[Path], None]) -> None:
    """The error names the file and the way back; nothing on disk changes; no table takes over an old directory."""
    spoil(server.data_dir)
    before = sorted(str(path) for path in server.data_dir.rglob("*"))
    told = refusal(server)
    assert "metadata.db" in told
    assert "lakeward restore" in told
    assert "Traceback" not in told
    assert "a bug in lakeward" not in told
    assert sorted(str(path) for path in server.data_dir.rglob("*")) == before


def test_a_repair_goes_back_to_the_newest_whole_state(server: ServerProcess) -> None:
    """What cannot be read is told and given up when agreed; ids of lost tables are not given again."""
    both(flipped("metadata.journal", 0.6), flipped("metadata.copies/*.journal", 0.6))(server.data_dir)
    assert "lakeward metadata repair" in refusal(server)
    command = [sys.executable, "-m", "lakeward", "metadata", "repair", "--data-dir", str(server.data_dir)]
    unsure = forked.run(command, stdin="n\n")
    assert "2 tables" in unsure.stderr
    assert "lakeward metadata repair" in refusal(server)
    done = forked.run([*command, "--yes"])
    assert done.returncode == 0, done.stderr
    assert "fluss/third-2" in done.stderr
    server.start()
    with lakeward.connect(server.bootstrap) as connection:
        assert connection.tables("fluss") == ["first", "second"]
        third = connection.create_table("fluss.third", "other STRING", buckets=1)
        assert third.info.table_id > 2
        assert third.scan().to_arrow().num_rows == 0

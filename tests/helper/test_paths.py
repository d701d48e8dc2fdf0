"""paths.py: private directories that are proven to be ours, and two environments that never meet."""

from __future__ import annotations

import hashlib
import os
import pwd
import shutil
import stat
import tempfile
from pathlib import Path

import pytest

from covey import paths
from covey.errors import Unavailable

DIRECTORIES = [paths.state_dir, paths.runtime_dir, paths.spool_dir, paths.lanes_dir]


@pytest.fixture
def home(monkeypatch):
    """A short home with every XDG variable inside it, and a /tmp of its own."""
    root = Path(tempfile.mkdtemp(prefix="cv"))
    for name in ("STATE_HOME", "CONFIG_HOME", "DATA_HOME"):
        monkeypatch.setenv(f"XDG_{name}", str(root / name.lower()))
    (root / "run").mkdir(mode=0o700)
    (root / "tmp").mkdir(mode=0o1777)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(root / "run"))
    monkeypatch.setenv("HOME", str(root))
    monkeypatch.setattr(paths, "SHORT_BASE", root / "tmp")
    yield root
    shutil.rmtree(root)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda f: f.__name__)
def test_made_private_on_demand_whatever_the_umask(home, directory):
    before = os.umask(0)
    try:
        path = directory()
    finally:
        os.umask(before)
    assert path.is_dir()
    assert mode(path) == 0o700
    assert path.is_relative_to(home)
    assert directory() == path


def test_a_configuration_kept_elsewhere_by_a_link_is_read_and_never_made(home):
    assert not paths.config_dir().exists()
    (home / "dotfiles").mkdir()
    (home / "config_home").mkdir()
    paths.config_dir().symlink_to(home / "dotfiles")
    assert paths.config_dir().is_dir()


@pytest.mark.parametrize("variable", ["XDG_STATE_HOME", "XDG_CONFIG_HOME"])
def test_unset_and_empty_mean_the_default_below_home(home, monkeypatch, variable):
    found = []
    for change in (lambda: monkeypatch.delenv(variable), lambda: monkeypatch.setenv(variable, "")):
        change()
        call = {"S": paths.state_dir, "C": paths.config_dir}[variable[4]]
        found.append(call())
    assert len(set(found)) == 1
    default = {"S": ".local/state", "C": ".config"}[variable[4]]
    assert found[0] == home / default / "covey"


def test_the_runtime_directory_is_named_by_the_real_state_directory(home, monkeypatch):
    digest = hashlib.sha256(os.fsencode(os.path.realpath(home / "state_home" / "covey"))).hexdigest()[:8]
    assert paths.runtime_dir() == home / "run" / "covey" / digest
    (home / "link").symlink_to(home / "state_home")
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "link"))
    assert paths.runtime_dir().name == digest


def test_files_lie_where_their_directories_are(home):
    assert paths.store_path() == paths.state_dir() / "covey.db"
    assert paths.log_path() == paths.state_dir() / "covey.log"
    assert paths.socket_path() == paths.runtime_dir() / "s"
    assert paths.spool_dir().parent == paths.lanes_dir().parent == paths.runtime_dir()


@pytest.mark.parametrize("variable", ["XDG_STATE_HOME", "XDG_RUNTIME_DIR"])
@pytest.mark.parametrize("long", [False, True])
def test_other_directories_are_another_fleet(home, monkeypatch, variable, long):
    sockets = []
    for name in ("a", "b"):
        other = home / (name * (90 if long else 1))
        other.mkdir(mode=0o700)
        monkeypatch.setenv(variable, str(other))
        sockets.append(paths.socket_path())
    assert len(set(sockets)) == 2
    assert len({path.parent for path in sockets}) == 2


@pytest.mark.parametrize("base", [None, "", "missing", "file"])
def test_without_a_runtime_directory_it_is_the_short_one(home, monkeypatch, base):
    (home / "file").touch()
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    if base is not None:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(home / base) if base else "")
    path = paths.runtime_dir()
    assert path.parent == home / "tmp" / f"covey-{os.geteuid()}"
    assert mode(path) == mode(path.parent) == 0o700


def test_an_unwritable_runtime_directory_is_not_used(home, monkeypatch):
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, how: str(path) != str(home / "run") and real(path, how))
    assert paths.runtime_dir().is_relative_to(home / "tmp")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_a_runtime_directory_of_another_user_is_not_used(home):
    os.chown(home / "run", 12345, 12345)
    assert paths.runtime_dir().is_relative_to(home / "tmp")
    assert list((home / "run").iterdir()) == []


def test_S06_tmux_and_its_tmpdir_decide_nothing(home, monkeypatch):
    before = paths.socket_path()
    monkeypatch.setenv("TMUX_TMPDIR", "/nonexistent")
    monkeypatch.setenv("TMUX", "/tmp/tmux-0/default,1,0")
    monkeypatch.setenv("TMPDIR", "/nonexistent")
    assert paths.socket_path() == before


@pytest.mark.parametrize("letters", ["x" * 110, "é" * 45, "漢" * 30])
def test_S04_a_long_socket_path_becomes_a_short_one(home, monkeypatch, letters):
    deep = home / letters
    deep.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    assert paths.runtime_dir().is_relative_to(deep)
    path = paths.socket_path()
    assert path.is_relative_to(home / "tmp")
    assert path.parent.is_dir()
    assert len(os.fsencode(path)) <= 100


def test_S04_the_limit_counts_bytes_and_is_exact(home, monkeypatch):
    tail = len(os.fsencode(paths.socket_path())) - len(os.fsencode(home / "run"))
    for total, kept in ((100, True), (101, False)):
        base = home / ("y" * (total - tail - len(os.fsencode(home)) - 1))
        base.mkdir(mode=0o700)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(base))
        assert paths.socket_path().is_relative_to(base) is kept


def test_S04_a_long_path_without_a_short_one_names_the_limit(home, monkeypatch):
    deep = home / ("x" * 110)
    deep.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    monkeypatch.setattr(paths, "SHORT_BASE", home / "gone")
    (home / "gone").touch()
    with pytest.raises(Unavailable, match="100 is the limit") as caught:
        paths.socket_path()
    assert str(deep) in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("kind", ["symlink", "dangling", "file", "writable", "group_writable"])
@pytest.mark.parametrize("where", ["run/covey", "state_home/covey"])
def test_S05_what_is_there_and_not_private_is_refused_and_left_alone(home, kind, where):
    path = home / where
    path.parent.mkdir(exist_ok=True)
    (home / "elsewhere").mkdir(mode=0o700)
    make = {
        "symlink": lambda: path.symlink_to(home / "elsewhere"),
        "dangling": lambda: path.symlink_to(home / "nowhere"),
        "file": lambda: path.write_text("mine"),
        "writable": lambda: (path.mkdir(), path.chmod(0o777)),
        "group_writable": lambda: (path.mkdir(), path.chmod(0o770)),
    }
    make[kind]()
    before = path.lstat()
    with pytest.raises(Unavailable) as caught:
        paths.lanes_dir()
    assert str(path) in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.hint
    after = path.lstat()
    assert (before.st_mode, before.st_uid, before.st_ino) == (after.st_mode, after.st_uid, after.st_ino)
    assert list((home / "elsewhere").iterdir()) == []
    assert not (home / "nowhere").exists()


def test_S05_a_directory_of_another_user_is_refused_and_left_alone(home, monkeypatch):
    path = paths.state_dir()
    path.chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    with pytest.raises(Unavailable, match="belongs to user"):
        paths.state_dir()
    assert mode(path) == 0o755


def test_S05_our_own_directory_that_others_can_only_read_is_closed(home):
    for path in (paths.state_dir(), paths.lanes_dir()):
        path.chmod(0o755)
    assert mode(paths.state_dir()) == 0o700
    assert mode(paths.lanes_dir()) == 0o700


def test_S05_the_directories_above_ours_are_left_as_they_are(home):
    (home / "state_home").mkdir(mode=0o755)
    (home / "state_home").chmod(0o755)
    paths.state_dir()
    assert mode(home / "state_home") == 0o755


def test_S05_a_read_only_place_is_one_sentence(home, monkeypatch):
    def refuse(self, *args, **kwargs):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(Unavailable, match="cannot be made: Read-only file system") as caught:
        paths.state_dir()
    assert caught.value.hint


def test_without_home_it_is_the_password_database(home, monkeypatch):
    class Entry:
        pw_dir = str(home / "fromdb")

    for name in ("HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name)
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: Entry)
    assert paths.state_dir() == home / "fromdb/.local/state/covey"


def test_without_home_and_entry_it_is_one_sentence(home, monkeypatch):
    def missing(uid):
        raise KeyError(uid)

    for name in ("HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name)
    monkeypatch.setattr(pwd, "getpwuid", missing)
    with pytest.raises(Unavailable, match="HOME is not set") as caught:
        paths.state_dir()
    assert "XDG_STATE_HOME" in caught.value.hint


@pytest.mark.parametrize("variable", ["XDG_STATE_HOME", "XDG_RUNTIME_DIR", "HOME"])
def test_a_relative_directory_is_named(home, monkeypatch, variable):
    if variable == "HOME":
        monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv(variable, "here/there")
    with pytest.raises(Unavailable, match=variable) as caught:
        paths.lanes_dir()
    assert "absolute" in caught.value.hint


ODD = {"a file": Path.touch, "a pipe": os.mkfifo, "a link to nothing": lambda path: path.symlink_to("nothing")}


@pytest.mark.parametrize("make", ODD.values(), ids=ODD.keys())
@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda f: f.__name__)
def test_something_else_in_the_place_of_a_directory_is_named_with_the_fix(home, directory, make):
    path = directory()
    shutil.rmtree(path)
    make(path)
    with pytest.raises(Unavailable, match=f"{path} is no directory, where covey needs one") as caught:
        directory()
    assert "Move it away" in caught.value.hint


@pytest.mark.parametrize("make", ODD.values(), ids=ODD.keys())
def test_a_file_is_written_in_the_place_of_whatever_bears_its_name(tmp_path, make):
    make(path := tmp_path / "written")
    paths.write(path, "text")
    assert (path.read_text(), path.is_symlink(), mode(path)) == ("text", False, 0o600)
    assert [each.name for each in tmp_path.iterdir()] == ["written"]

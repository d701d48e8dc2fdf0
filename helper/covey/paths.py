"""Where covey keeps things: the XDG directories on every unix, private, and proven to be ours.

Nothing is remembered: each call reads ``os.environ``. Every directory that covey writes to exists when handed out, is
a real directory, belongs to this user and is closed to everybody else; where that cannot be had the call raises
``Unavailable`` and changes nothing.
"""

from __future__ import annotations

import fcntl
import hashlib
import itertools
import os
import stat
from contextlib import suppress
from pathlib import Path

from platformdirs.unix import Unix

from covey.errors import Unavailable

SOCKET_MAX = 100  # bytes; AF_UNIX holds 108 on Linux and 104 on macOS, closing NUL included
PRIVATE = 0o700
PRIVATE_FILE = 0o600
OTHERS = 0o077  # what group and others may do
OTHERS_WRITE = 0o022
APP = "covey"
ROOM = 1 << 16  # bytes that are free on a disk that is not full; the store's shared index alone takes half of it
MOUNTS = Path("/proc/self/mountinfo")  # proc_pid_mountinfo(5): the third field is the device, after " - " the type
# Where processes on several machines share no memory, and locks are a matter of luck.
NETWORK = frozenset(
    "9p afs beegfs ceph cifs davfs fuse.davfs2 fuse.glusterfs fuse.rclone fuse.s3fs fuse.sshfs gfs2 glusterfs gpfs"
    " lustre ncpfs nfs nfs4 ocfs2 smb3 smbfs".split()
)
SHORT_BASE = Path("/tmp")  # noqa: S108 - short and on every unix; what we make in it is private and checked


def state_dir() -> Path:
    """Give the directory of what outlives a login: the store, the log."""
    return _home_dir("XDG_STATE_HOME", "user_state_path")


def worktrees_dir() -> Path:
    """For git worktrees that sessions were opened in; what is in them is a person's work."""
    return _private(_home_dir("XDG_DATA_HOME", "user_data_path"), "worktrees")


def config_dir() -> Path:
    """Name the directory of what a person writes: ``config.toml``, profiles of agents.

    It is only read: it may be missing, and it may be a link, as keepers of dotfiles make it.
    """
    return _home_path("XDG_CONFIG_HOME", "user_config_path")


def runtime_dir() -> Path:
    """Give the directory of what ends with the login: one a fleet, named by the real path of ``state_dir()``.

    It lies in ``$XDG_RUNTIME_DIR/covey``. Where that variable is unset, or names a directory that is missing, not
    ours or not writable, it lies in ``/tmp/covey-<uid>``.
    """
    base = _runtime_base()
    return _private(base / APP, _fleet()) if base else _short_dir()


def socket_path() -> Path:
    """Name the socket of this fleet's tmux server, in at most 100 bytes; its directory exists, the socket may not."""
    path = runtime_dir() / "s"
    length = len(os.fsencode(path))
    if length <= SOCKET_MAX:
        return path
    try:
        return _short_dir() / "s"
    except Unavailable as error:
        too_long = f"the socket path {path} has {length} bytes where {SOCKET_MAX} is the limit"
        raise Unavailable(f"{error.message}, and {too_long}", "Set XDG_RUNTIME_DIR to a shorter directory.") from error


def store_path() -> Path:
    return state_dir() / "covey.db"


def log_path() -> Path:
    return state_dir() / "covey.log"


def spool_dir() -> Path:
    """For files that carry a prompt or an environment to a starting process; each is removed after use."""
    return _private(runtime_dir(), "spool")


def lanes_dir() -> Path:
    """For the lock files of ``lane.py``."""
    return _private(runtime_dir(), "lanes")


def claim_file(path: Path) -> None:
    """Make an empty file that only we can use, or close one of ours to others. A file that is there is not opened."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE))
    except FileExistsError:
        found = path.lstat()
        _refuse_foreign(path, found, is_right=stat.S_ISREG(found.st_mode), wanted="file")
        if stat.S_IMODE(found.st_mode) != PRIVATE_FILE:
            path.chmod(PRIVATE_FILE)


def write(path: Path, text: str) -> None:
    """Put a private file of that text in the place of whatever bears its name. Raises ``OSError``."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    with os.fdopen(
        os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE), "w", encoding="utf-8"
    ) as file:
        file.write(text)
    fresh.replace(path)


def set_aside(path: Path, tails: tuple[str, ...]) -> Path:
    """Rename a file to the first free ``.broken-N``, and give that name.

    Its companions, known by their tails, go first: a fresh file must never meet an old companion.
    """
    names = (path.with_name(f"{path.name}.broken-{number}") for number in itertools.count(1))
    aside = next(name for name in names if not os.path.lexists(name))
    for tail in (*tails, ""):
        with suppress(FileNotFoundError):
            Path(f"{path}{tail}").rename(f"{aside}{tail}")
    return aside


def inode(path: Path) -> tuple[int, int] | None:
    """What tells the file that bears this name from another that did or will; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def try_lock(handle: int, kind: int = fcntl.LOCK_EX) -> bool:
    """Take the kernel's lock (flock) on an open file or directory; False where somebody else has it."""
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def no_room(path: Path) -> str:
    """Say why the file system of ``path`` takes nothing more, as a hint behind what failed by it; '' where it does."""
    try:
        found = os.statvfs(path)
    except OSError as error:
        return f"The disk that {path} lies on does not answer: {error.strerror}."
    if found.f_flag & os.ST_RDONLY:
        return f"The disk that {path} lies on is read-only."
    return "" if found.f_bavail * found.f_frsize >= ROOM else f"The disk that {path} lies on is full: make room there."


def network_kind(path: Path) -> str:
    """Name the network file system that ``path`` lies on; '' for a local one, and where that cannot be told."""
    device = path.stat().st_dev
    try:
        mounts = MOUNTS.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    number = f"{os.major(device)}:{os.minor(device)}"
    kinds = {line.partition(" - ")[2].split()[0] for line in mounts if line.split()[2] == number}
    return next(iter(kinds & NETWORK), "")


def _home_dir(variable: str, attribute: str) -> Path:
    return _private(_home_path(variable, attribute))


def _home_path(variable: str, attribute: str) -> Path:
    if not _absolute_or_unset(variable):
        _absolute_or_unset("HOME", empty_is_unset=False)
    try:
        path: Path = getattr(Unix(APP, appauthor=False), attribute)
    except RuntimeError:  # platformdirs of 2026 on a user without a home; older ones leave the tilde in place
        path = Path("~")
    if not path.is_absolute():
        sentence = f"HOME is not set and user {os.geteuid()} has no home directory in the password database"
        raise Unavailable(sentence, f"Set HOME or {variable}.")
    return path


def _absolute_or_unset(variable: str, *, empty_is_unset: bool = True) -> str:
    """Return the variable's value, or ''. A relative one is named, for each program reads it in its own way."""
    value = os.environ.get(variable)
    if value is None or (empty_is_unset and not value.strip()):
        return ""
    if not value.startswith("/"):
        raise Unavailable(f"{variable} is {value!r}, which is no absolute path", f"Set {variable} to an absolute path.")
    return value


def _runtime_base() -> Path | None:
    value = _absolute_or_unset("XDG_RUNTIME_DIR")
    base = Path(value)
    if not value or not os.access(base, os.W_OK | os.X_OK) or not base.is_dir():
        return None
    return base if base.stat().st_uid == os.geteuid() else None


def _short_dir() -> Path:
    """Return a directory whose path is short; fleets whose runtime directories differ have different ones."""
    runtime = _absolute_or_unset("XDG_RUNTIME_DIR")
    return _private(SHORT_BASE / f"{APP}-{os.geteuid()}", _fleet(runtime))


def _fleet(runtime: str = "") -> str:
    state = os.fsencode(state_dir().resolve())
    return hashlib.sha256(state + b"\0" + os.fsencode(runtime) if runtime else state).hexdigest()[:8]


def _private(path: Path, inside: str = "") -> Path:
    """Make ``path``, and ``inside`` it, private directories; check what is there already."""
    try:
        path.parent.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        _claim(path)
        if inside:
            path = path / inside
            _claim(path)
    except (FileExistsError, NotADirectoryError) as error:
        hint = "Move it away, or point the XDG variable elsewhere."
        raise Unavailable(f"{error.filename} is no directory, where covey needs one", hint) from error
    except OSError as error:
        sentence = f"The directory {path} cannot be made: {error.strerror}"
        raise Unavailable(sentence, "Make its parent writable for you, or point the XDG variable elsewhere.") from error
    return path


def _claim(path: Path) -> None:
    """Make one directory, or tighten one of ours that others can read. One that others could fill is refused."""
    path.mkdir(mode=PRIVATE, exist_ok=True)
    found = path.lstat()
    _refuse_foreign(path, found, is_right=stat.S_ISDIR(found.st_mode), wanted="directory")
    if found.st_mode & OTHERS_WRITE:
        raise Unavailable(f"{path} is open for others to write", f"Look at what is in it, then: chmod 700 {path}")
    if found.st_mode & OTHERS:
        _tighten(path)


def _refuse_foreign(path: Path, found: os.stat_result, *, is_right: bool, wanted: str) -> None:
    if not is_right:
        raise Unavailable(f"{path} is no {wanted} of its own, where covey needs one", f"Move {path} away.")
    if found.st_uid != os.geteuid():
        raise Unavailable(f"{path} belongs to user {found.st_uid}, not to you", f"Have its owner remove {path}.")


def _tighten(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fchmod(handle, PRIVATE)
    finally:
        os.close(handle)

"""What kind of file system holds a path: SQLite's locks don't hold on those that come over a network."""

from __future__ import annotations

import re
from pathlib import Path

from tuning.doctor.rows import NOTE, PROBLEM, Check

MOUNTS = Path("/proc/self/mountinfo")

NETWORK = re.compile(
    r"nfs\d*|cifs|smb\w*|9p|afs|auristorfs|coda|ceph|gfs2?|ocfs2|lustre|gpfs|beegfs\w*|pvfs2|orangefs|panfs|wekafs|ncpfs"
    r"|davfs|acfs|vboxsf|vmhgfs|prl_fs"
    r"|fuse\.(sshfs|glusterfs|ceph\w*|s3fs|rclone|gcsfuse|blobfuse\w*|davfs\w*|juicefs|moosefs|mfs|seaweedfs|vmhgfs-fuse"
    r"|cvmfs\w*|hdfs\w*|smbnetfs|goofys|mount-s3|nfs\w*|lizardfs|onedriver|google-drive-ocamlfuse)"
)
"""File systems of other machines, or of a host that shares its own with a virtual one."""

UNSURE = re.compile(r"fuse(\..*)?|virtiofs|fakeowner|drvfs")
"""Those where it depends on what stands behind them."""


def file_system(path: Path, mounts: Path | None = None) -> str | None:
    """The type of the file system that holds a path, or would; None where the system does not tell.

    Of the mount points above the path the longest holds it, and of those at one place the last.
    """
    try:
        lines = (mounts or MOUNTS).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    place = path.resolve()
    best, kind = -1, None
    for line in lines:
        front, _, back = line.partition(" - ")
        fields = front.split()
        if len(fields) < 5 or not back.split():
            continue
        point = Path(_unescaped(fields[4]))
        if (point == place or point in place.parents) and len(point.parts) >= best:
            best, kind = len(point.parts), back.split()[0]
    return kind


def _unescaped(field: str) -> str:
    r"""A mount point as it is: blanks, tabs, line ends and backslashes are written as three octal digits.

    >>> _unescaped(r"/mnt/my\040disk")
    '/mnt/my disk'
    """
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), field)


def mount_check(path: Path, mounts: Path | None = None) -> Check:
    """A row on whether SQLite may keep a file there."""
    kind = file_system(path, mounts)
    if kind is None:
        return Check("file system", "not known here")
    if NETWORK.fullmatch(kind):
        advice = "keep SQLite on a local disk, or use PostgreSQL: --storage postgresql+psycopg://…"
        return Check("file system", f"{kind}, a network file system, where SQLite corrupts", PROBLEM, advice)
    if UNSURE.fullmatch(kind):
        advice = "if another machine stands behind it, SQLite corrupts: use a local disk or PostgreSQL"
        return Check("file system", f"{kind}, which may be on another machine", NOTE, advice)
    return Check("file system", f"{kind}, local")

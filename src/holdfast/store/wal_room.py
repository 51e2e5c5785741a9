"""Room in the write-ahead log before it is needed, so that a commit overwrites blocks instead of adding them.

A sync of a file that has grown waits for the file system's journal, together with everything else on the machine: some
milliseconds, now and then tens. A sync of blocks that are there already is one write to the disk. The log is used over
again from its beginning after every checkpoint, so the room stays for as long as anybody has the database open.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

from holdfast.store.database import Database

ROOM = 9 * 1024 * 1024
"""A little more than the log holds when SQLite empties it into the database (`wal_autocheckpoint`)."""
_PART = 1 << 20


def make_room(path: Path) -> None:
    """For a process that stays and has the database open: the last one to close it takes the log away, room and all."""
    log = Path(f"{path}-wal")

    def work(connection: sqlite3.Connection) -> None:
        # Within a transaction of ours nobody else adds to the log or cuts it. What stands behind the last frame is no
        # frame and is skipped, as old frames are after a checkpoint.
        with contextlib.suppress(OSError):  # a full disk: then it grows as it would have
            _extend(log)

    database = Database(path)
    try:
        database.write(work)
    finally:
        database.close()


def _extend(log: Path) -> None:
    # SQLite holds no locks on this file, so closing a second descriptor of it gives none away.
    descriptor = os.open(log, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        size = os.fstat(descriptor).st_size
        while size < ROOM:
            # Written, not only reserved: turning reserved blocks into written ones is again the journal's work.
            size += os.pwrite(descriptor, bytes(min(_PART, ROOM - size)), size)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

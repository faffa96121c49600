"""Processes that must not outlive this one, even when it is killed without a chance to clean up."""

import subprocess
import sys
from collections.abc import Iterable

# Its input ends when the process that holds the other end is gone, however that went. psutil
# tells a process from another one that got its number later.
_WATCH = """
import psutil, sys
watched = []
for pid in map(int, sys.argv[1:]):
    try:
        watched.append(psutil.Process(pid))
    except psutil.NoSuchProcess:
        pass
sys.stdin.read()
for process in watched:
    if process.is_running():
        process.kill()
"""


class Watch:
    """Kills the processes `pids` as soon as this process is gone or `close` is called."""

    def __init__(self, pids: Iterable[int]) -> None:
        command = [sys.executable, "-c", _WATCH, *map(str, pids)]
        # A session of its own, so that what kills this process's group spares it.
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)

    def close(self) -> None:
        """Returns when the processes have been killed."""
        if self._process.stdin:
            self._process.stdin.close()
        self._process.wait()

"""What a process started goes when it is killed."""

import os
import signal
import subprocess
import sys
import time

import psutil

from reciper_ray.adapters.orphans import Watch

PARENT = """
import subprocess, sys, time
from reciper_ray.adapters.orphans import Watch
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
watch = Watch([child.pid])
print(child.pid, flush=True)
time.sleep(60)
"""


def gone(process: psutil.Process) -> bool:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.05)
    return False


def test_what_is_watched_goes_when_its_parent_is_killed() -> None:
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        child = psutil.Process(int(parent.stdout.readline()))
        time.sleep(0.5)
        assert child.is_running()
        os.kill(parent.pid, signal.SIGKILL)
        assert gone(child)


def test_closing_ends_what_is_watched_and_nothing_that_ended_before_matters() -> None:
    sleeping = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen([sys.executable, "-c", ""]) as ended, subprocess.Popen(sleeping) as child:
        ended.wait()
        Watch([ended.pid, child.pid]).close()
        assert child.wait() == -signal.SIGKILL

"""The whole line once, on the bundled sample papers: build, serve, ask over gRPC, stop.

    python jobs/demo.py [--config FILE]

Prints the cited answer as it comes back. Everything listens on and talks to this machine only.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SNAPSHOT = ROOT / ".demo"
ADDRESS = "127.0.0.1:9000"
QUESTION = "At what temperature and for how long was the Nb-doped lithium garnet powder calcined?"
RECIPER = Path(sys.executable).with_name("reciper")


def run(*arguments: str | Path) -> None:
    print(f"$ reciper {' '.join(map(str, arguments))}", file=sys.stderr, flush=True)
    subprocess.run([RECIPER, *arguments], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--config", metavar="FILE")
    config = parser.parse_args().config
    options = ("--config", config) if config else ()
    snapshot = ROOT / f".{Path(config).stem}" if config else SNAPSHOT
    started = time.monotonic()
    # Models come from packages; nothing is looked up on a hub.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    run("build", ROOT / "sample" / "papers", "--out", snapshot, *options)
    with subprocess.Popen(
        [RECIPER, "serve", "--snapshot", snapshot, *options], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            ready = server.stdout.readline()
            if not ready:
                return server.wait() or 1
            print(ready, end="", file=sys.stderr)
            run("ask", QUESTION, "--address", ADDRESS, "--timeout-ms", "60000")
        finally:
            server.send_signal(signal.SIGINT)
    print(f"{time.monotonic() - started:.0f} s in all", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())

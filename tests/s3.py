"""A real S3 server in a process of its own, and a line to it that can be cut and slowed."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from urllib.parse import quote

from pyarrow import fs

from tests.serve.server import free_ports

STARTS_WITHIN_S = 60.0
BUCKET = "papers"


class Server:
    """moto's S3 server, empty, with one bucket; its line may be cut (`reachable`) and slowed
    (`delay_s` before each piece of data)."""

    def __init__(self) -> None:
        self.port, self._server_port = free_ports(2)
        self.reachable = True
        self.delay_s = 0.0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self._server_port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONWARNINGS": "ignore"},
        )
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, daemon=True).start()

    def uri(self, folder: str) -> str:
        """Where `folder` of the bucket is, with all that a client needs."""
        endpoint = quote(f"127.0.0.1:{self.port}", safe="")
        options = f"scheme=http&region=us-east-1&endpoint_override={endpoint}"
        return f"s3://key:secret@{BUCKET}/{folder}?{options}"

    def start(self) -> None:
        end = time.monotonic() + STARTS_WITHIN_S
        client = fs.S3FileSystem(
            access_key="key",
            secret_key="secret",
            scheme="http",
            region="us-east-1",
            endpoint_override=f"127.0.0.1:{self._server_port}",
            allow_bucket_creation=True,
        )
        while True:
            try:
                client.create_dir(BUCKET)
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)
            else:
                return

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if not self.reachable:
                    client.close()
                    continue
                try:
                    server = socket.create_connection(("127.0.0.1", self._server_port))
                except OSError:
                    client.close()
                    continue
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=self._pump, args=(source, target), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while (data := source.recv(1 << 16)) and self.reachable:
                time.sleep(self.delay_s)
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@contextlib.contextmanager
def server() -> Iterator[Server]:
    running = Server()
    try:
        running.start()
        yield running
    finally:
        running.close()

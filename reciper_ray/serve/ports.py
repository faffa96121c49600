"""Whether a port is free, and if not, who has it."""

import contextlib
import errno
import socket

import psutil

from reciper_ray.errors import Unavailable

MAX_COMMAND = 200


def require_free(port: int, purpose: str) -> None:
    """Raise `Unavailable` naming the port, what it is wanted for, and who listens there."""
    with contextlib.closing(_socket()) as probe:
        # Without this a connection just closed would count as a listener.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise Unavailable(
                    f"port {port}, wanted for {purpose}, is in use by {_holder(port)}"
                ) from error
            raise Unavailable(f"port {port}, wanted for {purpose}: {error.strerror}") from error


def _socket() -> socket.socket:
    if not socket.has_dualstack_ipv6():
        return socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    probe = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    return probe


def _holder(port: int) -> str:
    with contextlib.suppress(psutil.Error):
        for connection in psutil.net_connections("tcp"):
            if connection.laddr and connection.laddr.port == port and connection.pid:
                process = psutil.Process(connection.pid)
                command = " ".join(process.cmdline()) or process.name()
                return f"process {process.pid}: {' '.join(command.split())[:MAX_COMMAND]}"
    return "a process that this user may not see"

import os
import socket

import pytest

from reciper_ray.errors import Unavailable
from reciper_ray.serve.ports import require_free


def test_a_port_in_use_is_refused_naming_its_holder() -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        with pytest.raises(Unavailable) as refused:
            require_free(port, "gRPC")
    assert str(refused.value).startswith(
        f"port {port}, wanted for gRPC, is in use by process {os.getpid()}: "
    )


def test_a_free_port_passes_also_just_after_its_listener_closed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            server, _ = held.accept()
            server.close()
            client.recv(1)
    require_free(port, "gRPC")

"""Pure modules load none of the heavy libraries, and the client none either."""

import pkgutil
import subprocess
import sys

import pytest

import reciper_ray

HEAVY = ("ray", "torch", "faiss", "vllm", "sentence_transformers", "transformers")
# What adapts a heavy library, or is a shell around Ray.
ADAPTERS = {
    "reciper_ray.adapters.encoder",
    "reciper_ray.adapters.index",
    "reciper_ray.local",
}
SHELLS = ("reciper_ray.build", "reciper_ray.serve")
# These speak gRPC, and nothing heavier.
GRPC = ("reciper_ray.client", "reciper_ray.wire", "reciper_ray._generated")


def modules() -> list[str]:
    names = [m.name for m in pkgutil.walk_packages(reciper_ray.__path__, "reciper_ray.")]
    return [n for n in names if n not in ADAPTERS and not n.startswith(SHELLS)]


def loaded_by(names: list[str]) -> set[str]:
    code = f"import sys, importlib\nfor n in {names!r}: importlib.import_module(n)\n"
    code += "print(*sys.modules)"
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(output.stdout.split())


def test_pure_modules_load_no_heavy_library() -> None:
    pure = [n for n in modules() if not n.startswith((*GRPC, "reciper_ray.cli"))]
    assert "reciper_ray.search" in pure
    assert not loaded_by(pure) & {*HEAVY, "grpc"}


@pytest.mark.parametrize("name", ["reciper_ray.client", "reciper_ray.cli"])
def test_the_client_and_the_command_line_start_without_heavy_libraries(name: str) -> None:
    assert not loaded_by([name]) & set(HEAVY)

"""Generates the gRPC stubs from the .proto file; with `--check` only proves them fresh."""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "reciper_ray/_generated"


def generate(folder: str) -> None:
    """Write the stubs below `folder`, as modules of the package."""
    outputs = [f"--{kind}_out={folder}" for kind in ("python", "pyi", "grpc_python")]
    proto_path = f"{PACKAGE}={ROOT / 'protos/reciper/v1'}"
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{proto_path}", *outputs]
    subprocess.run([*command, f"{PACKAGE}/reciper.proto"], check=True)


def main() -> int:
    if sys.argv[1:] != ["--check"]:
        generate(str(ROOT))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        generate(folder)
        fresh = sorted((Path(folder) / PACKAGE).iterdir())
        stale = [f.name for f in fresh if f.read_bytes() != (ROOT / PACKAGE / f.name).read_bytes()]
    if stale:
        print(f"{', '.join(stale)} in {PACKAGE} are stale: run `make proto`", file=sys.stderr)
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())

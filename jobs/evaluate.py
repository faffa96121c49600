"""Every method on one set of questions, `hybrid` without each of its parts, and what it costs.

    python jobs/evaluate.py --snapshot URI --qa FILE [--config FILE] [--variants]

Prints one table: measures as `reciper evaluate` has them, the median milliseconds a query for ten
hits takes without encoding, and the p-value of a paired permutation test (nDCG@10 of each
question, 9,999 random signs) against `reciper`. `--variants` asks the questions as other people
would write them (`reciper_ray.variants`) and prints evidence@5 beside that of the originals.

On the authors' released files (build `rag_database.json`, ask `qa_dataset.jsonl`, with
`encoder.model` one of the four in PUBLISHED) the published figures stand beside ours.
"""

import argparse
import asyncio
import statistics
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.stats import permutation_test

from reciper_ray import config as configuration
from reciper_ray import evaluate, metrics, qa
from reciper_ray.config import HybridConfig, ScreenConfig, SearchConfig
from reciper_ray.local import Engine, open_snapshot
from reciper_ray.search import search
from reciper_ray.types import Hit, Method, Query, SearchResult
from reciper_ray.variants import variants

MEASURES = ("R@1", "R@5", "R@10", "nDCG@10", "MRR@10", "evidence@1", "evidence@5")
# arXiv 2604.11229, its table of 1,024 questions over 343 papers: R@1, R@5, R@10, nDCG@10, MRR.
PUBLISHED = {
    "bm25": (0.6172, 0.8066, 0.8477, 0.7335, 0.6967),
    "MiniLM paragraph": (0.7432, 0.9102, 0.9307, 0.8438, 0.8150),
    "BGE-large paragraph": (0.8408, 0.9512, 0.9619, 0.9060, 0.8875),
    "BGE-large recipe": (0.5107, 0.6299, 0.6533, 0.5837, 0.5610),
    "BGE-large plain hybrid": (0.8486, 0.9658, 0.9795, 0.9181, 0.8979),
    "BGE-large reciper": (0.8682, 0.9707, 0.9785, 0.9283, 0.9116),
}
SCREEN = 0.8
RRF_K = 60  # Cormack, Clarke & Büttcher, 2009


class Arm:
    """A way to search."""

    def __init__(self, engine: Engine, method: Method, ranking: SearchConfig) -> None:
        self.method = method
        self._parts = replace(engine.parts, config=ranking)

    async def __call__(self, query: Query) -> SearchResult:
        return await search(replace(query, method=self.method), self._parts)


class Rrf:
    """Reciprocal rank fusion of the rankings of other arms: `sum 1 / (60 + rank)`."""

    method = Method.HYBRID

    def __init__(self, arms: Sequence[Arm]) -> None:
        self._arms = arms

    async def __call__(self, query: Query) -> SearchResult:
        results = [await arm(query) for arm in self._arms]
        scores: dict[str, float] = {}
        hits: dict[str, Hit] = {}
        for hit in (hit for result in results for hit in result.hits):
            key = hit.passage.passage_id
            scores[key] = scores.get(key, 0.0) + 1.0 / (RRF_K + hit.rank)
            hits[key] = hit
        order = sorted(scores, key=lambda i: (-scores[i], i))[: query.k]
        ranked = [replace(hits[i], score=scores[i], rank=n) for n, i in enumerate(order, 1)]
        stages = Counter[str]()
        for result in results:
            stages.update(result.stage_ms)
        return replace(results[0], hits=tuple(ranked), stage_ms=stages)


def arms(engine: Engine) -> dict[str, Arm | Rrf]:
    base = engine.parts.config

    def arm(method: Method, **changes: object) -> Arm:
        return Arm(engine, method, base.model_copy(update=changes))

    methods = (Method.BM25, Method.PARAGRAPH, Method.RECIPE)
    found: dict[str, Arm | Rrf] = {method.value: arm(method) for method in methods}
    found["plain hybrid"] = arm(Method.RECIPER, rerank_weight=0.0)
    found["RRF"] = Rrf([arm(method) for method in methods])
    found["reciper"] = arm(Method.RECIPER)
    found["hybrid"] = arm(Method.HYBRID)
    for part in HybridConfig.model_fields:
        if part != "paper":
            without = base.hybrid.model_copy(update={part: 0.0})
            found[f"hybrid - {part}"] = arm(Method.HYBRID, hybrid=without)
    screen = ScreenConfig(threshold=SCREEN)
    found[f"hybrid, screened at {SCREEN}"] = arm(Method.HYBRID, screen=screen)
    return found


async def median_ms(arm: Arm | Rrf, questions: Sequence[qa.Question]) -> float:
    """Of a query for ten hits without its encoding, one at a time."""
    taken = []
    for question in questions:
        stages = (await arm(Query(question.text))).stage_ms
        taken.append(stages["total"] - stages.get("embed", 0.0))
    return statistics.median(taken)


def gains(evaluation: evaluate.Evaluation) -> NDArray[np.float64]:
    """nDCG@10 of each answerable question, in order."""
    outcomes = [o for o in evaluation.outcomes if o.question.relevant_ids]
    single = [metrics.ranking([(o.question, o.hits)])["nDCG@10"] for o in outcomes]
    return np.array(single, np.float64)


def p_value(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """Two-sided, paired by question."""
    if (ours == theirs).all():
        return 1.0
    test = permutation_test(
        (ours, theirs),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=9999,
        rng=np.random.default_rng(0),
    )
    return float(test.pvalue)


async def table(engine: Engine, questions: Sequence[qa.Question]) -> Table:
    shown = Table(title=f"{len(questions)} questions", title_justify="left")
    for column in ("method", *MEASURES, "ms", "p"):
        shown.add_column(column, justify="left" if column == "method" else "right")
    judged: dict[str, evaluate.Evaluation] = {}
    taken: dict[str, float] = {}
    for name, arm in arms(engine).items():
        print(f"{name} …", file=sys.stderr)
        taken[name] = await median_ms(arm, questions)
        judged[name] = await evaluate.evaluate(questions, arm, arm.method)
    against = gains(judged["reciper"])
    for name, evaluation in judged.items():
        values = [f"{evaluation.ranking[m] or 0.0:.3f}" for m in MEASURES]
        p = p_value(gains(evaluation), against)
        shown.add_row(name, *values, f"{taken[name]:.1f}", f"{p:.4f}")
    for name, figures in PUBLISHED.items():
        shown.add_row(f"published: {name}", *(f"{f:.3f}" for f in figures), *[""] * 4)
    return shown


async def variant_table(engine: Engine, questions: Sequence[qa.Question]) -> Table:
    shown = Table("rule", "n", "evidence@5", "of the variants", title="Surface variants")
    written: dict[str, list[tuple[qa.Question, qa.Question]]] = {}
    for question in questions:
        if question.answerable and question.must_contain:
            for rule, text in variants(question.text).items():
                written.setdefault(rule, []).append((question, replace(question, text=text)))
    everything = [pair for pairs in written.values() for pair in pairs]
    for rule, pairs in {**written, "all": everything}.items():
        before, after = [
            await evaluate.evaluate(list(side), engine.search, Method.HYBRID)
            for side in zip(*pairs, strict=True)
        ]
        figures: list[Mapping[str, float | None]] = [before.ranking, after.ranking]
        shown.add_row(rule, str(len(pairs)), *(f"{f['evidence@5'] or 0.0:.3f}" for f in figures))
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--snapshot", required=True, metavar="URI")
    parser.add_argument("--qa", required=True, metavar="FILE")
    parser.add_argument("--config", metavar="FILE")
    parser.add_argument("--variants", action="store_true")
    options = parser.parse_args()
    questions = [q for q in qa.load(options.qa) if q.answerable]
    with open_snapshot(options.snapshot, configuration.load(options.config)) as engine:
        make = variant_table if options.variants else table
        Console(width=160).print(asyncio.run(make(engine, questions)))


if __name__ == "__main__":
    main()

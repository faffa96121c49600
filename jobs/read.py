"""How fast a corpus is read, and what a build would make of each of its files.

    python jobs/read.py CORPUS [--readers 1 2 …] [--files]

Prints a line a format: papers, and papers a second of one core's CPU time. Then the seconds that
the whole corpus takes under Ray Data, read as a build reads it, for each number of `--readers`,
each of which has a CPU of its own; the shortest of three rounds counts. Last, what is indexed, a
copy, or rejected and why; `--files` names each copy and rejection. Nothing is embedded or written.
"""

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
from rich.console import Console
from rich.table import Table

from reciper_ray import readers
from reciper_ray.adapters.storage import CorpusFile, Store, open_corpus, read_corpus_file
from reciper_ray.build import stages
from reciper_ray.build.cluster import cluster, quiet_data
from reciper_ray.build.records import RECEIPTS
from reciper_ray.build.settle import settle
from reciper_ray.copies import Copy
from reciper_ray.errors import ReciperError
from reciper_ray.types import Paper, Rejection

ROUNDS = 3
_BLOCK_BYTES = 1 << 20
_BLOCKS_A_READER = 4
_TOLD = ("paper_id", "source", "file", "position", "stage", "reason", "head_hash", "traits")


def rates(corpus: Store, files: Sequence[CorpusFile]) -> dict[str, tuple[int, float]]:
    """Papers and CPU seconds of reading them by format; other files are left out."""
    found: dict[str, tuple[int, float]] = {}
    for file in files:
        if file.problem:
            continue
        data = read_corpus_file(corpus, file.path)
        began = time.process_time()
        try:
            papers = [p for p in readers.read(file.path, data) if isinstance(p, Paper)]
        except ReciperError:
            continue
        took = time.process_time() - began
        for name, count in Counter(paper.format for paper in papers).items():
            before, seconds = found.get(name, (0, 0.0))
            found[name] = (before + count, seconds + took * count / len(papers))
    return dict(sorted(found.items()))


def read(corpus: Store, files: Sequence[CorpusFile], count: int) -> pa.Table:
    """What `stages.read` makes of the corpus with `count` readers, without the texts."""
    import ray

    blocks = min(len(files), _BLOCKS_A_READER * count)
    # Every block has its share of the large files, the largest first.
    order = sorted(files, key=lambda file: -file.size)
    order = [file for block in range(blocks) for file in order[block::blocks]]
    rows = [{"path": file.path, "problem": file.problem} for file in order]
    with quiet_data(_BLOCK_BYTES):
        dataset = ray.data.from_items(rows, override_num_blocks=blocks).map_batches(
            _without_texts,
            fn_kwargs={"corpus": corpus},
            batch_format="pyarrow",
            batch_size=None,
            num_cpus=1,
            compute=ray.data.TaskPoolStrategy(size=count),
        )
        tables = list(dataset.iter_batches(batch_size=None, batch_format="pyarrow"))
    table = pa.concat_tables(tables)
    return table.sort_by([("file", "ascending"), ("position", "ascending")])


def _without_texts(batch: pa.Table, corpus: Store) -> Iterator[pa.Table]:
    # Not a stage of its own, whose tasks would take a CPU from the readers.
    for records in stages.read(batch, corpus, frozenset()):
        yield records.select(list(_TOLD))


def outcomes(records: pa.Table) -> tuple[int, Sequence[Copy], Sequence[Rejection]]:
    """How many papers would be indexed, the copies, and the rejections."""
    rows = [
        row | {"finished": False, "part": "", "row": number}
        for number, row in enumerate(records.to_pylist())
    ]
    settled = settle(pa.Table.from_pylist(rows, RECEIPTS), {}, 1)
    indexed = sum(len(at) for parts in settled.shards for at in parts.values())
    return indexed, settled.copies, settled.rejections


def main(arguments: Sequence[str] | None = None) -> None:
    summary = (__doc__ or "").partition("\n\n")[0]
    parser = argparse.ArgumentParser(prog="jobs/read.py", description=summary)
    parser.add_argument("corpus", help="folder, file or URI")
    parser.add_argument("--readers", type=int, nargs="+", default=[1, 2], metavar="N")
    parser.add_argument("--files", action="store_true", help="name each copy and rejection")
    asked = parser.parse_args(arguments)
    try:
        corpus, files = open_corpus(asked.corpus)
        _print_rates(rates(corpus, files))
        with cluster():
            walls: dict[int, float] = {}
            for count in asked.readers:
                # The first round starts the workers.
                for _ in range(ROUNDS + 1):
                    began = time.perf_counter()
                    records = read(corpus, files, count)
                    walls[count] = min(walls.get(count, 1e9), time.perf_counter() - began)
        _print_walls(walls, records.num_rows)
        _print_outcomes(*outcomes(records), files=len(files), each=asked.files)
    except ReciperError as error:
        sys.exit(f"error: {error}")


def _print_rates(found: Mapping[str, tuple[int, float]]) -> None:
    table = Table("format", title="CPU time of one core", title_justify="left")
    for heading in ("papers", "papers/s"):
        table.add_column(heading, justify="right")
    for name, (count, seconds) in found.items():
        table.add_row(name, str(count), f"{count / seconds:.1f}")
    Console().print(table)


def _print_walls(walls: Mapping[int, float], records: int) -> None:
    table = Table("readers", title="Under Ray Data", title_justify="left")
    for heading in ("seconds", "records/s", "times as fast"):
        table.add_column(heading, justify="right")
    first = next(iter(walls.values()))
    for count, seconds in walls.items():
        times = f"{first / seconds:.2f}"
        table.add_row(str(count), f"{seconds:.2f}", f"{records / seconds:.1f}", times)
    Console().print(table)


def _print_outcomes(
    indexed: int,
    copies: Sequence[Copy],
    rejections: Sequence[Rejection],
    *,
    files: int,
    each: bool,
) -> None:
    records = indexed + len(copies) + len(rejections)
    print(f"{files} files, {records} records: {indexed} indexed, ", end="")
    print(f"{len(copies)} copies, {len(rejections)} rejected")
    for line in _each(copies, rejections) if each else _counted(rejections):
        print(f"  {line}")


def _each(copies: Sequence[Copy], rejections: Sequence[Rejection]) -> Iterator[str]:
    for copy in copies:
        yield f"{copy.source}: a copy of {copy.kept_source}: {copy.reason}"
    for rejection in rejections:
        yield f"{rejection.path}: rejected: {rejection.reason}"


def _counted(rejections: Sequence[Rejection]) -> Iterator[str]:
    counts: dict[str, int] = defaultdict(int)
    for rejection in rejections:
        counts[rejection.reason] += 1
    for reason, count in sorted(counts.items()):
        yield f"{count} × {reason}"


if __name__ == "__main__":
    main()

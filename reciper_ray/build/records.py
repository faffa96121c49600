"""The rows of the build's dataset: RECORDS between its stages, RECEIPTS when work is stored."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from reciper_ray.adapters import tables

Row = dict[str, Any]

_SECONDS = [(f"{name}_seconds", pa.float64()) for name in ("read", "extract", "chunk", "embed")]
_ORIGIN = [("file", pa.string()), ("position", pa.int32())]
_REJECTION = [("stage", pa.string()), ("reason", pa.string()), ("head_hash", pa.string())]
# The fields of `copies.Traits`.
_TRAITS = pa.struct(
    [
        *((name, pa.string()) for name in ("source", "format", "title", "doi", "arxiv_id")),
        ("chars", pa.int32()),
        ("supplement", pa.bool_()),
        ("signature", pa.list_(pa.uint32())),
    ]
)

# Between stages: the columns of PAPERS, the corpus file and the place in it, why it is rejected
# (`reason`, null for a paper), what tells copies, whether an earlier build has done it, whether
# its recipes were written in this one, and its passages.
RECORDS = pa.schema(
    [
        *tables.PAPERS,
        *_ORIGIN,
        *_REJECTION,
        ("traits", _TRAITS),
        ("finished", pa.bool_()),
        ("extracted", pa.bool_()),
        ("passages", tables.PASSAGE_LIST),
        *_SECONDS,
    ]
)
# What is left of a row when its work is stored: row `row` of the part file `part` (null for a
# rejection and for a `finished` paper), `passages` as their number.
RECEIPTS = pa.schema(
    [
        *(RECORDS.field(name) for name in ("paper_id", "source", "digest")),
        *_ORIGIN,
        *_REJECTION,
        ("traits", _TRAITS),
        ("finished", pa.bool_()),
        ("extracted", pa.bool_()),
        ("part", pa.string()),
        ("row", pa.int32()),
        ("passages", pa.int32()),
        *_SECONDS,
    ]
)


def seconds(receipts: pa.Table) -> dict[str, float]:
    """Seconds of work by stage, summed over papers."""
    return {
        field.name.removesuffix("_seconds"): float(pc.sum(receipts[field.name]).as_py() or 0.0)
        for field in receipts.schema
        if field.name.endswith("_seconds")
    }

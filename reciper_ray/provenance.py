"""Where a passage comes from: its pages, and its words as the source's file has them.

Texts are normalised when they are read; `Original`s keep what stood in the file where that
differs. How they are found is in `reciper_ray.readers.originals`.
"""

from bisect import bisect_right
from collections.abc import Sequence

from reciper_ray.types import Original, Paper, Span


def originals_of(paper: Paper, spans: Sequence[Span]) -> tuple[Original, ...]:
    """The originals of the text that joins `spans` of the paper by one character each.

    An original that a span cuts is kept whole in the place of the part inside.
    """
    found: list[Original] = []
    at = 0
    for span in spans:
        first = bisect_right(paper.originals, span.start, key=lambda original: original.end)
        for original in paper.originals[first:]:
            if original.start >= span.end:
                break
            start, end = max(original.start, span.start), min(original.end, span.end)
            found.append(Original(start - span.start + at, end - span.start + at, original.text))
        at += span.end - span.start + 1
    return tuple(found)


def as_written(text: str, originals: Sequence[Original], span: Span | None = None) -> str:
    """`text`, or `span` of it, as the source's file has it; originals that `span` cuts are whole.

    `originals` are those of `text`, in order and disjoint.
    """
    start, end = (span.start, span.end) if span else (0, len(text))
    parts: list[str] = []
    for original in originals:
        if original.start < end and start < original.end:
            parts += [text[start : original.start], original.text]
            start = max(start, original.end)
    return "".join([*parts, text[start:end]])


def pages_of(paper: Paper, spans: Sequence[Span]) -> tuple[int | None, int | None]:
    """The first and last page on which `spans` of the paper stand, None where it has no pages."""
    pages: list[int] = []
    for span in spans:
        first = bisect_right(paper.paragraphs, span.start, key=lambda paragraph: paragraph.end)
        for paragraph in paper.paragraphs[first:]:
            if paragraph.start >= span.end:
                break
            if paragraph.page is not None:
                ends = max(span.start, paragraph.start), min(span.end, paragraph.end) - 1
                pages += (paragraph.page + bisect_right(paragraph.turns, at) for at in ends)
    return (min(pages), max(pages)) if pages else (None, None)


def page_range(page: int | None, last_page: int | None) -> str:
    """`p. 3` or `pp. 3–4`, "" for no pages."""
    if page is None:
        return ""
    return f"p. {page}" if last_page in (None, page) else f"pp. {page}–{last_page}"

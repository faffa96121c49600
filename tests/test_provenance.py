"""Pages and original words of passages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reciper_ray.provenance import as_written, originals_of, page_range, pages_of
from reciper_ray.types import Original, Paper, Paragraph, Span

TEXT = "It was fired at 600 °C in air. Then milled for 2 h."
#       0123456789012345678901234567890
ORIGINAL = Original(16, 22, "$600^{\\circ}\\mathrm{C}$")


def paper(*originals: Original, paragraphs: tuple[Paragraph, ...] = ()) -> Paper:
    return Paper("a", "T", TEXT, paragraphs, originals=originals)


def test_a_span_is_written_as_in_the_file() -> None:
    assert TEXT[16:22] == "600 °C"
    written = as_written(TEXT, (ORIGINAL,), Span(0, 30))
    assert written == "It was fired at $600^{\\circ}\\mathrm{C}$ in air."
    assert as_written(TEXT, (ORIGINAL,), Span(31, 51)) == "Then milled for 2 h."


def test_an_original_that_a_span_cuts_is_whole() -> None:
    assert as_written(TEXT, (ORIGINAL,), Span(20, 30)) == f"{ORIGINAL.text} in air."
    assert as_written(TEXT, (ORIGINAL,), Span(0, 18)) == f"It was fired at {ORIGINAL.text}"


def test_originals_move_with_the_spans_that_hold_them() -> None:
    spans = (Span(31, 51), Span(0, 30))
    support = " ".join(TEXT[span.start : span.end] for span in spans)
    (found,) = originals_of(paper(ORIGINAL), spans)
    assert support[found.start : found.end] == "600 °C"
    assert originals_of(paper(ORIGINAL), (Span(22, 51),)) == ()


@given(st.data())
def test_the_originals_of_a_span_write_it_as_the_whole_papers_do(data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(TEXT)), min_size=2, max_size=10)))
    originals = tuple(Original(a, b, f"<{a}>") for a, b in zip(cuts[::2], cuts[1::2], strict=False))
    ends = data.draw(st.tuples(st.integers(0, len(TEXT)), st.integers(0, len(TEXT))))
    span = Span(min(ends), max(ends))
    if span.start < span.end:
        own = originals_of(paper(*originals), (span,))
        text = TEXT[span.start : span.end]
        assert as_written(text, own) == as_written(TEXT, originals, span)


def test_pages_are_those_of_the_paragraphs_turns() -> None:
    paragraphs = (Paragraph(0, 30, page=3), Paragraph(31, 51, page=3, turns=(36, 43, 43)))
    found = paper(paragraphs=paragraphs)
    # The second paragraph begins on page 3, goes on on 4 at 36, and on 6 at 43.
    assert pages_of(found, (Span(0, 30),)) == (3, 3)
    assert pages_of(found, (Span(31, 36),)) == (3, 3)
    assert pages_of(found, (Span(31, 37),)) == (3, 4)
    assert pages_of(found, (Span(36, 43),)) == (4, 4)
    assert pages_of(found, (Span(44, 51), Span(0, 5))) == (3, 6)
    assert pages_of(paper(paragraphs=(Paragraph(0, 30),)), (Span(0, 30),)) == (None, None)


@pytest.mark.parametrize(
    ("page", "last_page", "written"),
    [(None, None, ""), (3, 3, "p. 3"), (3, None, "p. 3"), (3, 4, "pp. 3–4")],
)
def test_a_range_of_pages(page: int | None, last_page: int | None, written: str) -> None:
    assert page_range(page, last_page) == written

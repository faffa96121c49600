"""LaTeX read through, with offsets into the source."""

from hypothesis import given
from hypothesis import strategies as st

from reciper_ray import latex


def test_text_without_latex_is_itself() -> None:
    plain = latex.plain("costs $5 at 10^5 in a_b")
    assert plain.text == "costs $5 at 10^5 in a_b"
    span = plain.span(6, 8)
    assert (span.start, span.end) == (6, 8)


def test_markup_goes_and_symbols_stay() -> None:
    source = r"at $1100^{\circ}\mathrm{C}$, $10^{5}$ Pa, $\mathrm{s}^{-1}$, 5\% of \delta"
    assert latex.plain(source).text == "at 1100°C, 10^5 Pa, s-1, 5% of δ"


def test_a_span_covers_the_source_with_its_braces() -> None:
    source = r"of $\mathrm{Al}_{2}\mathrm{O}_{3}$ at"
    plain = latex.plain(source)
    at = plain.text.index("Al2O3")
    span = plain.span(at, at + 5)
    assert source[span.start : span.end] == r"\mathrm{Al}_{2}\mathrm{O}_{3}"


@given(st.text(alphabet="ab1 $\\{}^_%circ", max_size=60))
def test_every_character_has_its_place_in_the_source(source: str) -> None:
    plain = latex.plain(source)
    last = 0
    for at in range(len(plain.text)):
        span = plain.span(at, at + 1)
        assert 0 <= span.start < span.end <= len(source)
        assert span.end >= last
        last = span.start

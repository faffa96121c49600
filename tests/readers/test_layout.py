"""Headings and blocks to placed blocks."""

from reciper_ray.readers.layout import Heading, depth, lay_out
from reciper_ray.readers.source import Block
from reciper_ray.types import Kind

LONG = "The sample was heated in a tube furnace under flowing argon until it"


def test_a_section_number_tells_the_depth() -> None:
    assert depth(Heading("2.1. Melting", 1)) == 2
    assert depth(Heading("2.1.3 Melting", 1)) == 3
    assert depth(Heading("2024 Melting", 3)) == 3
    assert depth(Heading("3D printing", 3)) == 3
    assert depth(Heading("Melting", 3)) == 3


def test_a_higher_heading_closes_the_lower_ones() -> None:
    blocks = lay_out(
        [Heading("Up", 1), Heading("Down", 2), Block("One."), Heading("Next", 1), Block("Two.")]
    )
    assert [block.heading for block in blocks] == ["Up > Down", "Next"]


def test_torn_sentences_are_joined_only_under_one_heading() -> None:
    tail = Block("was dense.")
    assert lay_out([Block(LONG), tail]) == [Block(f"{LONG} was dense.")]
    assert len(lay_out([Block(LONG), Heading("Next", 1), tail])) == 2


def test_a_capital_joins_only_where_breaks_are_weak() -> None:
    blocks = [Block(LONG), Block("X-ray diffraction shows it.")]
    assert len(lay_out(blocks)) == 2
    assert len(lay_out(blocks, weak_breaks=True)) == 1


def test_a_caption_between_the_halves_is_stepped_over() -> None:
    blocks = lay_out([Block(LONG), Block("Figure 1. It."), Block("was dense.")])
    assert [block.kind for block in blocks] == [Kind.TEXT, Kind.CAPTION]


def test_running_heads_go_with_their_page_numbers() -> None:
    heads = [Block(f"Entropy 2019, 21, 448 {page} of 13") for page in (2, 3, 4)]
    assert lay_out([heads[0], Block("One."), heads[1], Block("Two."), heads[2]]) == [
        Block("One."),
        Block("Two."),
    ]


def test_a_line_without_a_word_goes() -> None:
    assert lay_out([Block("(a)"), Block("—"), Block("5 h")]) == [Block("5 h")]


def test_a_paragraph_joined_over_a_page_that_has_none_of_it_skips_that_page() -> None:
    begun = "a sentence that is longer than the sixty characters that a torn one has, and"
    first = Block(begun, page=2, turns=(10,))
    (joined,) = lay_out([first, Block("goes on behind a picture of a whole page.", page=5)])
    # Page 2 up to 10, page 3 up to the join, nothing of page 4, then page 5.
    assert joined.turns == (10, len(begun) + 1, len(begun) + 1)
    assert (joined.page, joined.last_page) == (2, 5)
    assert joined.part(len(begun), len(joined.text)).page == 5
    assert joined.part(5, len(begun)) == Block(begun[5:], page=2, turns=(5,))

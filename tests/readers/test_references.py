"""Lists of references without a heading."""

import time

import pytest

from reciper_ray.readers.references import runs, without_references
from reciper_ray.readers.source import Block
from reciper_ray.types import Kind

STYLES = [
    "LiY., SuP.-C. & WangS. Stability of thin films. J. Power Sources 268, 804–809 (2014).",
    "{n} C. Duan, J. Tong, M. Shang, Science 2015, 349, 1321.",
    "{n} AnJKimY-BPrinzF B Nano Lett 2013 13 4551 4555 10.1021/nl402661p 23977845",
    "Zhao, Y.; Tong, Y. Intermetallic nanoparticles. Science 2018, 362, 933–937. [CrossRef]",
    "[{n}] W. Wu, Y. Zhang, T. He, Adv. Mater. 30 (12), 1704745 (2018)",
]
PROSE = "The authors thank the institute for the beam time."


@pytest.mark.parametrize("style", STYLES)
def test_a_list_is_cut_from_its_first_entry_to_its_last(style: str) -> None:
    listed = " ".join(style.format(n=n) for n in range(1, 9))
    (block,) = without_references([Block(f"{PROSE} {listed}")])
    assert block.text == PROSE
    before, after = without_references([Block(f"{PROSE} {listed} Figure 1 XRD.")])
    assert (before.text, after.text) == (PROSE, "Figure 1 XRD.")


def test_entries_in_paragraphs_of_their_own_go_and_tables_between_stay() -> None:
    entries = [Block(STYLES[3], "Conclusions") for _ in range(8)]
    table = Block("A | 1", "", Kind.TABLE)
    blocks = [Block(PROSE), *entries[:4], table, *entries[4:], Block("Licence.")]
    assert without_references(blocks) == [Block(PROSE), table, Block("Licence.")]


@pytest.mark.parametrize(
    "text",
    [
        " ".join(STYLES[1].format(n=n) for n in range(1, 6)),
        " ".join(f"Li et al. (201{n}) fired it at 850 °C, 20 h." for n in range(9)),
        " ".join(
            f"In 2012, {n}00 cells were tested at 850 °C for 20 h, 3 times." for n in range(9)
        ),
        " ".join(f"Sample {n} | 2000 | 12.5 | 850.0 | 1.5" for n in range(20)),
    ],
)
def test_what_is_not_certain_stays(text: str) -> None:
    assert without_references([Block(text)]) == [Block(text)]


@pytest.mark.parametrize("unit", ["1 ", "2012 1 1 ", "A.", "Li, W. ", "(2012)", "2012, 1, "])
def test_hostile_repetition_takes_linear_time(unit: str) -> None:
    started = time.process_time()
    runs(unit * 30_000)
    assert time.process_time() - started < 5

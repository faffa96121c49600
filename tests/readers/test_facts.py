"""Facts checked by hand against the sources: each stands whole in one passage, and in what
`reciper inspect --paper` shows of the published paper."""

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reciper_ray.chunk import Limit, chunk
from reciper_ray.cli import app
from reciper_ray.readers import read
from reciper_ray.text import squeeze
from reciper_ray.types import Kind, Paper, Passage

SPRINGER = "formats/springer_10.1007_s42114-024-00879-6.xml"
ELSEVIER = "formats/elsevier_10.1016_j.mattod.2024.11.015.xml"
PATENT = "formats/US06840965B2.xml"
GRAPH, SPECTER = "formats/N18-3011.tei.xml", "formats/2020.acl-main.207.tei.xml"
FSP = "formats/doi_10_1038__s41598_017_16509_9.pdf"
CRACKLING = "formats/doi_10_3390__e16020870.pdf"
MO_NB_TA = "formats/doi_10_3390__e21010015.pdf"
STEEL, CELLS = "corpus/papers/PMC6266235.xml", "corpus/papers/PMC7040742.xml"
IN718 = "corpus/papers/doi_10_3390__met10111466.md"
HEUSLER = "corpus/papers/doi_10_3390__e21020169.md"
TEXT, CAPTION, TABLE, ABSTRACT = Kind.TEXT, Kind.CAPTION, Kind.TABLE, Kind.ABSTRACT

FACTS = [
    # JATS in Springer's envelope: nested subscripts, conditions, tables, captions
    (SPRINGER, TEXT, "Annealing of detached free-standing coatings was conducted in a box furnace"
     " at 1250 °C and 1450 °C for 2 h using a heating rate of 10 °C/min"),
    (SPRINGER, TEXT, "sintered at 1450 °C in the air for 4 h using a heating rate of 2.5 °C/min"),
    (SPRINGER, TEXT, "pressed into pellets at 20 MPa for 1 min to obtain Y1.5Yb0.5Si2O7 green"),
    (SPRINGER, TEXT, "grit blasted (Guyson, Dudley, UK) with fine F100 brown alumina"),
    (SPRINGER, TEXT, "a low CTE value of 3.17 ± 0.22 × 10⁻⁶ K⁻¹ up to 1000 °C"),
    (SPRINGER, TEXT, "Ca2RE8(SiO4)6O2"),
    (SPRINGER, TABLE, "Impurities | Na2O | MgO | K2O | CaO | Fe2O3 | ZrO2\nWt.% | 0.003 | < 0.002"),
    (SPRINGER, TABLE, "Element | Wt% | At% | Wt% | At%\nO | 24.42 | 60.97 | 25.58 | 60.16"),
    (SPRINGER, TABLE, "200 | 4.6723 | 10.8087 | 5.5678 | 96.100 | 279.589"),
    (SPRINGER, TABLE, "Normalized cell dimension | A*10⁻⁶ | B*10⁻⁹ | R²"),
    (SPRINGER, CAPTION, "2-h annealed (b, e, at 1250 °C; c, f, at 1450 °C) γ-Y1.5Yb0.5Si2O7"),
    # Elsevier
    (ELSEVIER, TEXT, "1.5 mm thick MG plate of Zr52.5Ti5Cu17.9Ni14.6Al10 (in at.%, Vitreloy 105,"
     " Tg = 675 K [40], σy = 1700 MPa [41]"),
    (ELSEVIER, TEXT, "to a size of 1.0 × 1.5 × 4.0 mm³"),
    (ELSEVIER, TEXT, "the first 10 000 s, dramatically accelerated decorrelation is observed"),
    (ELSEVIER, TEXT, "τ = 6500 s and β = 1.5 for the intermediate stress regime"),
    (ELSEVIER, CAPTION, "increasing stress amplitudes ranging from zero applied load in (a) to 0.8"
     " σy in (f)"),
    (ELSEVIER, CAPTION, "Anchors reflect the lower boundary of momentary time scales, ξlb, in the"),
    (ELSEVIER, CAPTION, "TTCF recorded about 80 h after unloading"),
    # USPTO
    (PATENT, TEXT, "After an exposure time of 30 min at 40°C., the hair was rinsed with water"),
    (PATENT, TEXT, "a melting point of 130-132°C."),
    (PATENT, TABLE, "(C10H10NOSCl) | % C | % H | % N | % Cl\n | Calculated | 52.75 | 4.43 | 6.15"),
    (PATENT, TABLE, "1.0 | g | of potassium oleate (8% aqueous solution)"),
    (PATENT, TEXT, "¹C.I.=Color Index"),
    # GROBID
    (GRAPH, ABSTRACT, "more than 280M nodes"),
    (GRAPH, CAPTION, "The ScienceParse libraries can be found at"),
    (SPECTER, TABLE, "SPECTER | 84.2 88.4 91.5 36.9 80.0"),
    (SPECTER, CAPTION, "Results on the SCIDOCS evaluation suite consisting of 7 tasks."),
    # PDF
    (FSP, TEXT, "with a nominal composition of Fe50Mn30Co10Cr10 (at %). The as-cast blocks were"
     " hot-rolled at 900 °C to a thickness of 50%"),
    (FSP, TEXT, "annealing at a furnace temperature of 900 °C for 3 min"),
    (FSP, CAPTION, "deformed at room temperature at an initial strain rate of 10⁻³ s⁻¹"),
    (FSP, TEXT, "Al1.5CoCr0.5FeNi0.5"),
    (CRACKLING, TEXT, "under a strain rate of 5 × 10⁻⁴ s⁻¹ at room temperature"),
    (CRACKLING, TABLE, "Al0.25NbTiMoV | DR (white) | 5.4 | 22.0 | 22.1 | 25.5 | 25.0"),
    (CRACKLING, TEXT, "(= 8.314 JK⁻¹mol⁻¹)"),
    (MO_NB_TA, TABLE, "Yield strength (MPa) | 1512 | 929 | 1600 | 1351 | 1524 | 1369"),
    (MO_NB_TA, TABLE, "800 | 1007 | 535 | 1045 | 829 | 1005 | 822"),
    (MO_NB_TA, TEXT, "imposed the strain rate of 10⁻³ s⁻¹ on the samples"),
    (MO_NB_TA, TEXT, "At 800 °C, the yield strength of HfMoNbTaTiZr alloy was 1007 MPa"),
    # JATS of PubMed Central
    (STEEL, TABLE, "C | Si | Mn | S | P | Ni | Cr + Cu + Mo | Alt\n0.04~0.06 | 0.2~0.25 | 4.9~5.2"),
    (STEEL, CAPTION, "(a) 642.3 °C, (b) 748.1 °C, (c) 810.4 °C"),
    (CELLS, TABLE, "First cycle discharge capacity (mAh/g at 0.1 C) | 140 | 180 | 180–200 | 170"),
    # Markdown out of OCR
    (IN718, TEXT, "A workpiece with an initial height of 150 mm and a diameter of 100 mm was"
     " deformed at 980 °C"),
    (IN718, TEXT, "(0.001 s⁻¹ and 960 °C)"),
    (HEUSLER, TABLE, "Al | 6.9 ± 0.6 | 11.4 ± 0.6 | 24.4 ± 1.3"),
    # Plain text
    ("corpus/papers/steel_04.txt", TEXT, "Homogenizing at 1473 K (1200 °C) for 4 h"),
    ("corpus/papers/PMC6073263.txt", TEXT, "8YSZ"),
]  # fmt: skip


@cache
def passages(file: Path) -> list[Passage]:
    (paper,) = read(file.name, file.read_bytes())
    assert isinstance(paper, Paper)
    return chunk(paper, Limit(1000, 254, lambda text: len(text) // 4))


@pytest.fixture(scope="session")
def store(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `reciper build` makes of the files that hold the facts."""
    folder = tmp_path_factory.mktemp("facts")
    (folder / "corpus").mkdir()
    for file in {file for file, _, _ in FACTS}:
        (folder / "corpus" / Path(file).name).symlink_to(shared / file)
    command = "from reciper_ray.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", command, "build", folder / "corpus", "--out", folder / "store"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder / "store"


@cache
def inspected(store: Path, paper_id: str) -> str:
    """What `reciper inspect --paper` prints of a paper, white space folded."""
    shown = CliRunner().invoke(app, ["inspect", str(store), "--paper", paper_id])
    assert shown.exit_code == 0, shown.output
    return squeeze(shown.stdout)


def test_there_are_enough_facts() -> None:
    assert len(FACTS) >= 40


@pytest.mark.slow
@pytest.mark.parametrize(("file", "kind", "fact"), FACTS)
def test_a_fact_stands_whole_in_a_passage(shared: Path, file: str, kind: Kind, fact: str) -> None:
    assert any(p.kind is kind and fact in p.text for p in passages(shared / file))


@pytest.mark.slow
@pytest.mark.parametrize(("file", "kind", "fact"), FACTS)
def test_a_published_papers_passages_show_the_fact(
    store: Path, file: str, kind: Kind, fact: str
) -> None:
    assert squeeze(fact) in inspected(store, Path(file).stem)

"""What becomes of the files of a corpus, and the speed of reading them."""

from pathlib import Path

import pytest

from jobs.read import main, outcomes, rates, read
from reciper_ray.adapters.storage import open_corpus
from reciper_ray.build.cluster import cluster

ONE = "# On the firing of powders\n\nThe powder was fired at 600 °C for 5 h in air.\n"
THIRD = "# On the drying of powders\n\nThe filter cake was dried at 80 °C in a vacuum oven.\n"
OTHER = "# On the milling of powders\n\nThe slurry was milled for 24 h with steel balls.\n"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for name, text in (("a/x.md", ONE), ("b/x.md", OTHER), ("b/y.md", THIRD), ("c.txt", " ")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_rates_count_the_papers_of_each_format(corpus: Path) -> None:
    ((name, (papers, seconds)),) = rates(*open_corpus(corpus)).items()
    assert (name, papers) == ("markdown", 3)
    assert seconds > 0


@pytest.mark.slow
def test_every_file_has_an_outcome_and_another_paper_of_the_same_id_a_reason(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([str(corpus), "--readers", "1", "--files"])
    assert capsys.readouterr().out.splitlines()[-3:] == [
        "4 files, 4 records: 2 indexed, 0 copies, 2 rejected",
        "  b/x.md: rejected: paper id 'x' is already that of a/x.md, a different paper: "
        "give one of them another id (a file's id is its name)",
        "  c.txt: rejected: the file is empty",
    ]


@pytest.mark.slow
def test_every_file_of_the_corpora_is_indexed_a_copy_or_rejected_with_a_true_reason(
    shared: Path, tmp_path: Path
) -> None:
    (tmp_path / "papers").symlink_to(shared / "corpus" / "papers")
    (tmp_path / "formats").symlink_to(shared / "formats")
    corpus, files = open_corpus(tmp_path)
    with cluster():
        indexed, copies, rejections = outcomes(read(corpus, files, 2))
    assert indexed + len(copies) + len(rejections) == len(files) == 160
    pairs = ("doi_10_1038__s41598_017_16509_9", "doi_10_3390__e16020870", "doi_10_3390__e21010015")
    assert {copy.source: copy.kept_source for copy in copies} == {
        "papers/sofc_01.txt": "papers/PMC5700654.txt",
        "papers/sofc_02.txt": "papers/PMC4772004.txt",
        "papers/sofc_03.txt": "papers/PMC6158676.txt",
        "papers/sofc_04.txt": "papers/PMC6247067.txt",
        **{f"formats/{name}.pdf": f"papers/{name}.md" for name in pairs},
    }
    assert [(r.path, r.reason) for r in rejections] == [
        ("formats/INDEX.tsv", "a table of tab-separated values, not a paper")
    ]

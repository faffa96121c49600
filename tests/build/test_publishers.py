"""Processes that publish to one store at the same time; on S3 in `test_s3`."""

from pathlib import Path

from tests import publishers


def test_of_increments_that_publish_at_once_none_loses_a_paper(tmp_path: Path) -> None:
    assert publishers.race(str(tmp_path), processes=3, papers=5) > 0

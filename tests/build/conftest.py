"""What tests of builds share."""

from collections.abc import Iterator

import pytest

from reciper_ray.build.cluster import cluster


@pytest.fixture(scope="package")
def ray_cluster() -> Iterator[None]:
    """One cluster for all builds in this process."""
    with cluster():
        yield

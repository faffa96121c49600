"""reciper-ray: two-view retrieval over materials-science papers, as a distributed Ray system."""

__version__ = "0.1.0"

"""`reciper build` as a Ray job.

    ray job submit --working-dir . -- python jobs/build_corpus.py CORPUS --out URI [--config FILE]

CORPUS, URI and FILE must be reachable from every node: object stores, or folders that all nodes
mount. The working directory brings the package to the workers if it is not installed there.
"""

import sys

from reciper_ray.cli import main

if __name__ == "__main__":
    sys.argv.insert(1, "build")
    main()

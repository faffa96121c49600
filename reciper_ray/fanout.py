"""One query's calls to the shards: their deadline, their timings, and who did not answer."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

from reciper_ray.errors import CoverageTooLow, DeadlineExceeded, ReciperError, Unavailable
from reciper_ray.protocols import ShardGroup
from reciper_ray.types import Coverage, Query, View

T = TypeVar("T")

# Of the time left, what the shards may use: the rest is for merging and the reply.
FAN_OUT_SHARE = 0.8


class FanOut:
    """The calls of `query` to `groups`; only the groups of `views` are asked."""

    def __init__(self, query: Query, groups: Sequence[ShardGroup], views: Collection[View]) -> None:
        self.views = sorted(views)
        self.groups = [g for g in groups if g.view in views]
        self.stage_ms: dict[str, float] = {}
        self._errors: dict[View, dict[int, str]] = {view: {} for view in self.views}
        self._query = query
        self._started = time.perf_counter()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Times the block as stage `name`."""
        start = time.perf_counter()
        yield
        self.stage_ms[name] = (time.perf_counter() - start) * 1000

    def finish(self) -> None:
        """Notes the total time."""
        self.stage_ms["total"] = (time.perf_counter() - self._started) * 1000

    async def ask(
        self,
        call: Callable[[ShardGroup], Awaitable[Mapping[int, T | ReciperError]]],
        shards: Mapping[View, Collection[int]] | None = None,
    ) -> dict[tuple[View, int], T]:
        """The shards' replies by (view, shard), of the groups that hold one of `shards`.

        A shard without a reply is missing here and counted out in `coverage`.
        """
        groups = [
            g
            for g in self.groups
            if shards is None or any(s in shards.get(g.view, ()) for s in g.shards)
        ]
        if not groups:
            return {}
        tasks = {asyncio.ensure_future(call(g)): g for g in groups}
        left = self._query.timeout_ms / 1000 - (time.perf_counter() - self._started)
        try:
            await asyncio.wait(tasks, timeout=max(0.0, left * FAN_OUT_SHARE))
        finally:
            for task in tasks:
                if not task.done():
                    task.cancel()
        replies: dict[tuple[View, int], T] = {}
        for task, group in tasks.items():
            for shard in group.shards:
                reply = _outcome(task, shard)
                if isinstance(reply, ReciperError):
                    self._errors[group.view][shard] = str(reply)
                elif reply is not None:
                    replies[group.view, shard] = reply
        return dict(sorted(replies.items()))

    def coverage(self) -> tuple[Coverage, ...]:
        """Who answered so far.

        Raises `Unavailable` if nobody did, `CoverageTooLow` if fewer than the query's
        `min_coverage`; both name the shards and the reasons.
        """
        result = []
        for view in self.views:
            shards = sorted(s for g in self.groups if g.view is view for s in g.shards)
            errors = self._errors[view]
            answered = tuple(s for s in shards if s not in errors)
            coverage = Coverage(view, len(shards), answered, dict(sorted(errors.items())))
            if coverage.share < self._query.min_coverage:
                raise CoverageTooLow(
                    f"{len(answered)} of {len(shards)} {view} shards answered, below min_coverage"
                    f" = {self._query.min_coverage}: {_reasons(errors)}"
                )
            result.append(coverage)
        if self.groups and not any(c.answered for c in result):
            raise Unavailable(f"no shard answered: {_reasons(self._errors[self.views[0]])}")
        return tuple(result)


def _outcome(
    task: "asyncio.Future[Mapping[int, T | ReciperError]]", shard: int
) -> T | ReciperError | None:
    if not task.done() or task.cancelled():
        return DeadlineExceeded("no answer within the request's time")
    if error := task.exception():
        return error if isinstance(error, ReciperError) else Unavailable(repr(error))
    return task.result().get(shard)


def _reasons(errors: Mapping[int, str]) -> str:
    return "; ".join(f"shard {shard}: {error}" for shard, error in sorted(errors.items()))

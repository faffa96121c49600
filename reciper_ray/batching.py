"""Natural batching: the next batch is whatever arrived while the last one ran.

`Drain` turns a function over batches into one over single items. It waits for nothing: a lone
item leaves at once, and batches grow only when work queues up. An item whose caller has gone is
dropped before it is sent; one item's error is its own.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from reciper_ray.errors import Overloaded

T = TypeVar("T")
R = TypeVar("R")


class Drain(Generic[T, R]):
    """`await drain(item)` gives the item's own result out of `run([..., item, ...])`.

    `run` gets at most `max_batch` items and returns one result or exception each, in order; if
    `run` itself raises, each item of that batch does. At most `concurrency` batches run at a
    time, and an item that finds `max_queue` others waiting is refused with `Overloaded`.
    Belongs to one event loop.
    """

    def __init__(
        self,
        run: Callable[[list[T]], Awaitable[Sequence[R | Exception]]],
        *,
        max_batch: int,
        concurrency: int = 1,
        max_queue: int = 1024,
        name: str = "queue",
    ) -> None:
        self._run = run
        self._max_batch = max_batch
        self._free = concurrency
        self._max_queue = max_queue
        self._name = name
        self._waiting: deque[tuple[T, asyncio.Future[R]]] = deque()
        self._running: set[asyncio.Task[None]] = set()

    async def __call__(self, item: T) -> R:
        if len(self._waiting) >= self._max_queue:
            raise Overloaded(f"{self._name}: {self._max_queue} requests are waiting already")
        result: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, result))
        self._start()
        return await result

    def _start(self) -> None:
        while self._free and (batch := self._next()):
            self._free -= 1
            task = asyncio.create_task(self._work(batch))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    def _next(self) -> list[tuple[T, asyncio.Future[R]]]:
        batch: list[tuple[T, asyncio.Future[R]]] = []
        while self._waiting and len(batch) < self._max_batch:
            item, result = self._waiting.popleft()
            if not result.done():
                batch.append((item, result))
        return batch

    async def _work(self, batch: list[tuple[T, "asyncio.Future[R]"]]) -> None:
        try:
            outcomes = await self._run([item for item, _ in batch])
            if len(outcomes) != len(batch):
                raise RuntimeError(
                    f"{self._name}: {len(outcomes)} results for a batch of {len(batch)}"
                )
            for (_, result), outcome in zip(batch, outcomes, strict=True):
                if result.done():
                    continue
                if isinstance(outcome, Exception):
                    result.set_exception(outcome)
                else:
                    result.set_result(outcome)
        except Exception as error:
            for _, result in batch:
                if not result.done():
                    result.set_exception(error)
        finally:
            self._free += 1
            self._start()

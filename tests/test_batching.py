"""Natural batching: who goes with whom, whose error is whose, and who is dropped."""

import asyncio

import pytest

from reciper_ray.batching import Drain
from reciper_ray.errors import Overloaded


def test_a_lone_item_leaves_at_once_and_later_ones_go_together() -> None:
    async def scenario() -> tuple[list[list[int]], list[int]]:
        batches: list[list[int]] = []
        gate = asyncio.Event()

        async def run(items: list[int]) -> list[int]:
            batches.append(items)
            await gate.wait()
            return [i * 10 for i in items]

        drain = Drain(run, max_batch=3)
        calls = [asyncio.create_task(drain(i)) for i in range(6)]
        await asyncio.sleep(0)
        gate.set()
        return batches, await asyncio.gather(*calls)

    batches, results = asyncio.run(scenario())
    assert batches == [[0], [1, 2, 3], [4, 5]]
    assert results == [0, 10, 20, 30, 40, 50]


def test_one_items_error_is_its_own() -> None:
    async def scenario() -> list[int | BaseException]:
        async def run(items: list[int]) -> list[int | Exception]:
            return [ValueError(str(i)) if i == 1 else i for i in items]

        drain: Drain[int, int] = Drain(run, max_batch=8)
        return await asyncio.gather(*(drain(i) for i in range(3)), return_exceptions=True)

    zero, one, two = asyncio.run(scenario())
    assert (zero, two) == (0, 2)
    assert isinstance(one, ValueError)


def test_an_item_whose_caller_has_gone_is_not_sent() -> None:
    async def scenario() -> list[list[int]]:
        batches: list[list[int]] = []
        gate = asyncio.Event()

        async def run(items: list[int]) -> list[int]:
            batches.append(items)
            await gate.wait()
            return items

        drain = Drain(run, max_batch=8)
        calls = [asyncio.create_task(drain(i)) for i in range(4)]
        await asyncio.sleep(0)
        calls[2].cancel()
        gate.set()
        await asyncio.gather(*calls, return_exceptions=True)
        return batches

    assert asyncio.run(scenario()) == [[0], [1, 3]]


def test_a_full_queue_refuses_with_overloaded() -> None:
    async def scenario() -> list[int | BaseException]:
        async def run(items: list[int]) -> list[int]:
            await asyncio.sleep(0.01)
            return items

        drain = Drain(run, max_batch=1, max_queue=2, name="embedder")
        return await asyncio.gather(*(drain(i) for i in range(4)), return_exceptions=True)

    results = asyncio.run(scenario())
    assert results[:3] == [0, 1, 2]
    assert isinstance(results[3], Overloaded)
    assert "embedder" in str(results[3])


def test_a_batch_that_fails_whole_fails_each_item_and_the_next_one_runs() -> None:
    async def scenario() -> tuple[list[int | BaseException], int]:
        async def run(items: list[int]) -> list[int]:
            if 0 in items:
                raise RuntimeError("down")
            return items

        drain = Drain(run, max_batch=2)
        failed = await asyncio.gather(drain(0), return_exceptions=True)
        return failed, await drain(5)

    failed, later = asyncio.run(scenario())
    assert isinstance(failed[0], RuntimeError)
    assert later == 5


def test_two_replicas_run_two_batches_at_a_time() -> None:
    async def scenario() -> int:
        most = now = 0

        async def run(items: list[int]) -> list[int]:
            nonlocal most, now
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.001)
            now -= 1
            return items

        drain = Drain(run, max_batch=1, concurrency=2)
        await asyncio.gather(*(drain(i) for i in range(6)))
        return most

    assert asyncio.run(scenario()) == 2


@pytest.mark.parametrize("size", [0, 3])
def test_a_run_that_returns_the_wrong_number_of_results_fails_the_batch(size: int) -> None:
    async def scenario() -> int:
        async def run(items: list[int]) -> list[int]:
            return list(range(size))

        return await Drain(run, max_batch=1)(7)

    with pytest.raises(RuntimeError, match=f"{size} results for a batch of 1"):
        asyncio.run(scenario())

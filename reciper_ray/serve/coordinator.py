"""The one who moves a serving graph from snapshot to snapshot.

It watches the store's CURRENT. When that names another snapshot, every running router and every
replica of every shard group loads it beside the live one; only when all have reported do the
routers turn to it. What anyone refuses stays out, and is named, while the old snapshot serves. A
replica that starts meanwhile asks here what to load. Going back is the same, as CURRENT moves
back. While a snapshot is served or loaded a lease keeps it from being pruned.
"""

import asyncio
import logging
import math
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any

from ray import serve
from ray.serve.exceptions import RayServeException

from reciper_ray.adapters.storage import Store
from reciper_ray.config import Config
from reciper_ray.errors import ReciperError, Unavailable
from reciper_ray.leases import Held as Lease
from reciper_ray.leases import Kind, wait_for
from reciper_ray.serve.serving import Held, Report
from reciper_ray.snapshot import current_id

LOAD_WITHIN_S = 600.0
ANSWER_WITHIN_S = 10.0
PRUNED_WITHIN_S = 60.0
RETRY_S = 30.0
_ROUNDS = 20
_PAUSE_S = 0.25

logger = logging.getLogger(__name__)


class Fleet:
    """All running replicas of one deployment of this application."""

    def __init__(self, name: str, application: str) -> None:
        self.name, self._application = name, application
        self._handle: Any = None

    def running(self) -> int:
        """How many replicas Serve's controller counts; blocks."""
        application = serve.status().applications.get(self._application)
        deployment = application and application.deployments.get(self.name)
        states = deployment.replica_states if deployment else {}
        return sum(n for state, n in states.items() if getattr(state, "value", state) == "RUNNING")

    async def order(self, method: str, *args: object, timeout_s: float) -> list[Any]:
        """What every running replica answers.

        Raises the error of the first that fails, and `Unavailable` if some cannot be reached.
        """
        self._handle = self._handle or serve.get_deployment_handle(self.name, self._application)
        why = "no replica answers"
        for _ in range(_ROUNDS):
            running = await asyncio.to_thread(self.running)
            if not running:
                break
            try:
                response = self._handle.broadcast(method, *args)
                answers: list[Any] = await response.results_async(
                    timeout_s=timeout_s, return_exceptions=True
                )
            except (RayServeException, TimeoutError) as error:
                why = str(error) or type(error).__name__
            else:
                failed = [answer for answer in answers if isinstance(answer, Exception)]
                # Who started just now, or died, is not in everyone's view yet.
                if not failed and len(answers) >= running:
                    for answer in answers:
                        if isinstance(answer, Report) and answer.error:
                            raise answer.error
                    return answers
                why = f"{len(answers) - len(failed)} of {running} replicas answer"
            await asyncio.sleep(_PAUSE_S)
        raise Unavailable(f"{self.name}: {why}")


class Coordinator:
    """Deployment with one replica."""

    def __init__(self, uri: str, snapshot_id: str, config: Config, groups: Sequence[str]) -> None:
        """`groups` are the names of the shards' deployments; `snapshot_id` is what a graph that
        starts now serves first."""
        application = serve.get_replica_context().app_name
        self._store, self._swap = Store.open(uri), config.serve.swap
        self._routers = Fleet("router", application)
        self._groups = [Fleet(name, application) for name in groups]
        self._held = Held(snapshot_id)
        self._known = asyncio.Event()
        self._refused, self._until = "", 0.0
        self._flipped = time.monotonic()
        self._lease: Lease | None = None
        self._events: list[str] = []
        self._task: asyncio.Task[None] | None = None

    async def held(self) -> Held:
        """What a replica that starts now must load."""
        self._start()
        await self._known.wait()
        return self._held

    async def events(self, since: int) -> list[str]:
        """What has happened, a sentence each, after the first `since` things."""
        self._start()
        return self._events[since:]

    async def check_health(self) -> None:
        """Serve calls this regularly, so the watch runs from the start."""
        self._start()

    def _start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        await self._recall()
        while True:
            try:
                await self._step()
            except ReciperError as error:
                logger.warning("%s", error)
            except Exception:
                logger.exception("the coordinator goes on")
            await asyncio.sleep(self._swap.poll_s)

    async def _recall(self) -> None:
        """Learn from the routers, if there are any, what is live: this one may have died before."""
        with suppress(ReciperError):
            answers = await self._routers.order("held", timeout_s=ANSWER_WITHIN_S)
            self._held = Held(answers[0].live)
        self._known.set()
        await self._keep([self._held.live])

    async def _step(self) -> None:
        wanted = await asyncio.to_thread(current_id, self._store)
        live = self._held.live
        refused = wanted == self._refused and time.monotonic() < self._until
        if wanted and wanted != live and not refused:
            try:
                await self._move(wanted)
            except ReciperError as error:
                self._held = Held(live)
                self._refused = wanted
                self._until = time.monotonic() + RETRY_S if error.retryable else math.inf
                self._tell(f"snapshot {wanted} is refused, {live} serves on: {error}")
                await self._let_go()
        elif wanted == live:
            self._refused = ""
        await self._settle()

    async def _move(self, new: str) -> None:
        """Have `new` loaded everywhere, then turn the routers to it."""
        live = self._held.live
        # Who starts from now on loads both.
        self._held = Held(live, (new,))
        await self._keep([live, new])
        await self._routers.order("load", new, timeout_s=LOAD_WITHIN_S)
        # One group after the other: loading takes time from those who search.
        for group in self._groups:
            await group.order("load", new, timeout_s=LOAD_WITHIN_S)
        self._held = Held(new, (live,))
        await self._routers.order("flip", new, timeout_s=ANSWER_WITHIN_S)
        self._flipped = time.monotonic()
        self._tell(f"snapshot {new} serves, after {live}")

    async def _settle(self) -> None:
        """Turn routers that missed it, and let the old snapshot go when nobody uses it."""
        live = self._held.live
        answers: list[Held] = await self._routers.order("held", timeout_s=ANSWER_WITHIN_S)
        if any(answer.live != live for answer in answers):
            await self._routers.order("load", live, timeout_s=LOAD_WITHIN_S)
            await self._routers.order("flip", live, timeout_s=ANSWER_WITHIN_S)
            return
        used = {snapshot_id for answer in answers for snapshot_id in answer.others}
        rested = time.monotonic() - self._flipped > self._swap.keep_s
        if self._held.others and rested and not used:
            self._held = Held(live)
            await self._let_go()

    async def _let_go(self) -> None:
        """Nobody needs to hold anything but the live snapshot."""
        for fleet in (*self._groups, self._routers):
            await fleet.order("release", [self._held.live], timeout_s=ANSWER_WITHIN_S)
        await self._keep([self._held.live])

    async def _keep(self, snapshots: Collection[str]) -> None:
        """Have nobody delete them; a store that only allows reading is nobody's to prune."""

        def write() -> None:
            if self._lease:
                self._lease.name(snapshots)
            else:
                self._lease = Lease(self._store, Kind.SERVE, snapshots)
            wait_for(self._store, self._lease, Kind.PRUNE, PRUNED_WITHIN_S)

        try:
            await asyncio.to_thread(write)
        except ReciperError as error:
            logger.warning("no lease keeps the served snapshots from being pruned: %s", error)

    def _tell(self, what: str) -> None:
        if not self._events or self._events[-1] != what:
            self._events.append(what)
            logger.warning("%s", what)

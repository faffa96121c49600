"""The gRPC ingress: decodes and checks requests, runs the one search, encodes replies.

Serve calls the method of `Router` that has the gRPC method's name, so `Check` and `Watch` are
the standard health service's. A failed call for one reply sets the status and returns an empty
message, which gRPC drops; a failed stream has to raise.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager, contextmanager
from typing import TypeVar

from grpc_health.v1 import health_pb2
from ray.serve.grpc_util import RayServegRPCContext as Context

import reciper_ray
from reciper_ray import answer as answering
from reciper_ray import search, wire
from reciper_ray._generated import reciper_pb2 as pb
from reciper_ray.config import Config
from reciper_ray.errors import (
    ConfigError,
    DeadlineExceeded,
    InvalidArgument,
    NotFound,
    Overloaded,
)
from reciper_ray.protocols import Parts, ShardQuery
from reciper_ray.serve.loading import Handles, load_writer
from reciper_ray.serve.remote import RemoteAnswerer
from reciper_ray.serve.serving import Held, Loaded, Report, Serving, followed, wanted
from reciper_ray.serve.status import authorize, set_status
from reciper_ray.types import Answer as CitedAnswer
from reciper_ray.types import Coverage, Hit, Method, Query, View

SERVICE = "reciper.v1.Reciper"

T = TypeVar("T")

_HEALTH = health_pb2.HealthCheckResponse
# Asks a shard for nothing: whether it answers is what matters.
_PROBE = ShardQuery(vector=None, weights=None, mean_length=1.0, mean_paper_length=1.0, depth=1)


class Router:
    """Serves one snapshot at a time, as the coordinator says."""

    def __init__(self, uri: str, snapshot_id: str, config: Config, handles: Handles) -> None:
        """Raises `CorruptSnapshot` if something that is loaded here does not fit, and
        `ConfigError` if the variable that should hold the API key is not set."""
        self._key = _api_key(config.serve.api_key_env)
        self._limits = config.serve.limits
        self._most = config.serve.router.max_queue
        self._running = 0
        self._executor = ThreadPoolExecutor(config.serve.router.threads)
        held = wanted(handles.coordinator, snapshot_id)
        self._serving = Serving(uri, held, config, handles, self._executor)
        self._quote = self._extractive
        self._writer: answering.Writer | None = None
        if config.answer.backend != "extractive":
            self._writer = load_writer(config, handles)
        elif handles.answerer:
            self._quote = RemoteAnswerer(handles.answerer, config.serve.answerer).answer
        self._reserve_s = config.answer.reserve_ms / 1000

    async def Search(self, request: pb.SearchRequest, grpc_context: Context) -> pb.SearchReply:
        async def work() -> pb.SearchReply:
            query = self._query(request)
            with self._serving.pinned() as loaded:
                return wire.encode_result(await search.search(query, loaded.parts))

        return await self._reply(grpc_context, work, pb.SearchReply)

    async def Answer(
        self, request: pb.AnswerRequest, grpc_context: Context
    ) -> AsyncIterator[pb.AnswerReply]:
        try:
            with self._admitted(grpc_context):
                started = time.perf_counter()
                query = self._query(request.search)
                with self._serving.pinned() as loaded:
                    served = wire.encode_served(loaded.snapshot.id, {})
                    async with aclosing(self._answering(loaded.parts).stream(query)) as pieces:
                        async for piece in pieces:
                            if isinstance(piece, str):
                                yield pb.AnswerReply(token=piece, served=served)
                                continue
                            answer, result = piece
                            total = _since(started)
                            took = {"answer": total - result.stage_ms["total"], "total": total}
                            yield wire.encode_answer(answer, result, {**result.stage_ms, **took})
        except Exception as error:
            set_status(grpc_context, error)
            raise

    async def GetPaper(
        self, request: pb.GetPaperRequest, grpc_context: Context
    ) -> pb.GetPaperReply:
        async def work() -> pb.GetPaperReply:
            started = time.perf_counter()
            if not request.paper_id:
                raise InvalidArgument("paper_id is empty")
            with self._serving.pinned() as loaded:
                async with _within(self._timeout_ms(request)):
                    find = loaded.snapshot.paper
                    paper = await self._in_thread(lambda: find(request.paper_id))
                served = wire.encode_served(loaded.snapshot.id, {"total": _since(started)})
                return wire.encode_paper(paper, served)

        return await self._reply(grpc_context, work, pb.GetPaperReply)

    async def Info(self, request: pb.InfoRequest, grpc_context: Context) -> pb.InfoReply:
        async def work() -> pb.InfoReply:
            started = time.perf_counter()
            with self._serving.pinned() as loaded:
                async with _within(self._limits.default_timeout_ms):
                    info = self._info(loaded, await _coverage(loaded))
                return wire.encode_info(info, {"total": _since(started)})

        return await self._reply(grpc_context, work, pb.InfoReply)

    async def Check(
        self, request: health_pb2.HealthCheckRequest, grpc_context: Context
    ) -> health_pb2.HealthCheckResponse:
        if not _serves(request.service):
            set_status(grpc_context, NotFound(f"service = {request.service!r} is not served here"))
        return _HEALTH(status=_HEALTH.SERVING)

    async def Watch(
        self, request: health_pb2.HealthCheckRequest, grpc_context: Context
    ) -> AsyncIterator[health_pb2.HealthCheckResponse]:
        # A router that answers serves, and goes on until the stream ends with it.
        served = _serves(request.service)
        yield _HEALTH(status=_HEALTH.SERVING if served else _HEALTH.SERVICE_UNKNOWN)
        await asyncio.Event().wait()

    async def _reply(
        self, context: Context, work: Callable[[], Awaitable[T]], empty: Callable[[], T]
    ) -> T:
        try:
            with self._admitted(context):
                return await work()
        except Exception as error:
            set_status(context, error)
            return empty()

    @contextmanager
    def _admitted(self, context: Context) -> Iterator[None]:
        authorize(context.invocation_metadata(), self._key)
        if self._running >= self._most:
            raise Overloaded(f"{self._most} requests are under way (serve.router.max_queue)")
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1

    def _query(self, request: pb.SearchRequest) -> Query:
        query = wire.decode_query(request, self._limits.default_timeout_ms)
        search.validate(query, self._limits)
        return query

    def _timeout_ms(self, request: pb.GetPaperRequest) -> int:
        if not request.HasField("timeout_ms"):
            return self._limits.default_timeout_ms
        search.validate(Query("a paper", timeout_ms=request.timeout_ms), self._limits)
        return int(request.timeout_ms)

    def _answering(self, parts: Parts) -> answering.Answering:
        return answering.Answering(
            search=lambda asked: search.search(asked, parts),
            quote=self._quote,
            writer=self._writer,
            reserve_s=self._reserve_s,
        )

    async def _extractive(self, question: str, hits: Sequence[Hit]) -> CitedAnswer:
        return await self._in_thread(lambda: answering.extractive(question, hits))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    def _info(self, loaded: Loaded, coverage: tuple[Coverage, ...]) -> wire.Info:
        manifest = loaded.snapshot.manifest
        return wire.Info(
            version=reciper_ray.__version__,
            snapshot_id=loaded.snapshot.id,
            encoder=manifest.encoder.fingerprint,
            dimension=manifest.encoder.dimension,
            papers=manifest.papers,
            passages={view: info.passages for view, info in manifest.views.items()},
            methods=tuple(Method),
            limits=self._limits.model_dump(),
            coverage=coverage,
        )

    async def held(self) -> Held:
        """For the coordinator: which snapshots requests get here."""
        return self._serving.held()

    async def load(self, snapshot_id: str) -> Report:
        """Load a snapshot beside the live one."""
        return await followed(self._serving.load, snapshot_id)

    async def flip(self, snapshot_id: str) -> Report:
        """Give new requests that snapshot, which is loaded."""
        return await followed(self._serving.flip, snapshot_id)

    async def release(self, keep: Sequence[str]) -> Report:
        """Let other snapshots go when their last request has ended."""
        self._serving.release(keep)
        return Report()


async def _coverage(loaded: Loaded) -> tuple[Coverage, ...]:
    """Which shards answer now."""
    groups = loaded.parts.groups
    replies = await asyncio.gather(
        *(group.candidates(loaded.snapshot.id, _PROBE) for group in groups),
        return_exceptions=True,
    )
    errors: dict[View, dict[int, str]] = {view: {} for view in View}
    for group, reply in zip(groups, replies, strict=True):
        for shard in group.shards:
            outcome = reply if isinstance(reply, BaseException) else reply[shard]
            if isinstance(outcome, BaseException):
                errors[group.view][shard] = str(outcome)
    shards = range(loaded.snapshot.manifest.shards)
    return tuple(
        Coverage(view, len(shards), tuple(s for s in shards if s not in errors[view]), errors[view])
        for view in sorted(View)
    )


def _api_key(variable: str) -> str:
    if not variable:
        return ""
    if key := os.environ.get(variable):
        return key
    raise ConfigError(f"serve.api_key_env = {variable!r}: the router has no such variable set")


def _serves(service: str) -> bool:
    return service in ("", SERVICE)


@asynccontextmanager
async def _within(timeout_ms: int) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            yield
    except TimeoutError:
        raise DeadlineExceeded(
            f"timeout_ms = {timeout_ms} passed before the reply was complete"
        ) from None


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000

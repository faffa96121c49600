"""Clients of a running server: `Client` blocks, `AsyncClient` awaits; the rest is the same.

Every call has a deadline, made of the query's `timeout_ms` and a second's grace for the way.
An error comes back as the `ReciperError` that the server raised, by its status. A call is made
again only if its error is retryable, while its deadline lasts, and never once a stream began.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator
from types import TracebackType
from typing import Any, Self, TypeVar

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from reciper_ray import wire
from reciper_ray._generated import reciper_pb2 as pb
from reciper_ray._generated import reciper_pb2_grpc
from reciper_ray.errors import (
    CorruptSnapshot,
    DeadlineExceeded,
    InvalidArgument,
    NotFound,
    Overloaded,
    PublishConflict,
    ReciperError,
    Unauthenticated,
    Unavailable,
)
from reciper_ray.snapshot import IndexedPaper
from reciper_ray.types import Answer, Piece, Query, SearchResult

DEFAULT_ADDRESS = "127.0.0.1:9000"
DEFAULT_TIMEOUT_MS = 30_000
GRACE_S = 1.0
ATTEMPTS = 4
FIRST_PAUSE_S = 0.1

T = TypeVar("T")

_BY_STATUS = {
    kind.status: kind
    for kind in (
        CorruptSnapshot,
        DeadlineExceeded,
        InvalidArgument,
        NotFound,
        Overloaded,
        PublishConflict,
        Unauthenticated,
        Unavailable,
    )
}


class _Client:
    """What both clients share: the channel's options, deadlines, errors, when to try again."""

    def __init__(
        self,
        address: str = DEFAULT_ADDRESS,
        *,
        api_key: str = "",
        tls: bool = False,
        attempts: int = ATTEMPTS,
    ) -> None:
        """`tls` encrypts and checks the server against the system's certificates; a server is
        reached that way through the gateway in front of it. A call is made at most `attempts`
        times."""
        self.address = address
        options = [
            # A reply of a thousand hits is larger than gRPC's default of 4 MiB.
            ("grpc.max_receive_message_length", -1),
            ("grpc.initial_reconnect_backoff_ms", 100),
        ]
        self._channel: Any = (
            self._grpc.secure_channel(address, grpc.ssl_channel_credentials(), options)
            if tls
            else self._grpc.insecure_channel(address, options)
        )
        self._stub = reciper_pb2_grpc.ReciperStub(self._channel)
        self._health = health_pb2_grpc.HealthStub(self._channel)
        self._metadata = (("authorization", f"Bearer {api_key}"),) if api_key else ()
        self._attempts = attempts

    _grpc: Any = grpc

    def _options(self, end: float) -> dict[str, object]:
        return {"timeout": max(0.0, end - time.monotonic()), "metadata": self._metadata}

    def _pause(self, error: ReciperError, attempt: int, end: float) -> float:
        """Seconds to wait before the next attempt; raises `error` when there shall be none."""
        pause: float = FIRST_PAUSE_S * 2**attempt * random.uniform(0.5, 1.0)
        if not error.retryable or attempt + 1 >= self._attempts or time.monotonic() + pause >= end:
            raise error
        return pause

    def _error(self, error: grpc.RpcError) -> ReciperError:
        status, details = error.code().name, error.details() or ""
        if status == "DEADLINE_EXCEEDED" and "timeout_ms" not in details:
            details = f"{self.address} did not answer within timeout_ms and {GRACE_S:g} s of grace"
        if status == "UNAVAILABLE":
            details = f"{self.address}: {details}"
        if kind := _BY_STATUS.get(status):
            return kind(details)
        return ReciperError(f"{self.address}: {status}: {details}")


def _end(timeout_ms: int) -> float:
    return time.monotonic() + timeout_ms / 1000 + GRACE_S


def _paper_request(paper_id: str, timeout_ms: int) -> pb.GetPaperRequest:
    return pb.GetPaperRequest(paper_id=paper_id, timeout_ms=timeout_ms)


class Client(_Client):
    """A blocking client; a context manager, safe to share between threads."""

    def search(self, query: Query) -> SearchResult:
        """Ranked passages."""
        request = wire.encode_query(query)
        return wire.decode_result(self._call(self._stub.Search, request, query.timeout_ms))

    def answer(self, query: Query) -> tuple[Answer, SearchResult]:
        """A cited answer, and the hits it was made from."""
        return _last(list(self.stream(query)))

    def stream(self, query: Query) -> Iterator[Piece]:
        """An answer as it is written: pieces of its text, then the whole with its evidence."""
        end, attempt, begun = _end(query.timeout_ms), 0, False
        request = pb.AnswerRequest(search=wire.encode_query(query))
        while True:
            call = self._stub.Answer(request, **self._options(end))
            try:
                for reply in call:
                    begun = True
                    yield _piece(reply)
                return
            except grpc.RpcError as failure:
                error = self._error(failure)
                if begun:
                    raise error from failure
                time.sleep(self._pause(error, attempt, end))
                attempt += 1
            finally:
                call.cancel()

    def paper(self, paper_id: str, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> IndexedPaper:
        """An indexed paper. Raises `NotFound` naming the id."""
        request = _paper_request(paper_id, timeout_ms)
        return wire.decode_paper(self._call(self._stub.GetPaper, request, timeout_ms))

    def info(self, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> wire.Info:
        """What the server serves."""
        return wire.decode_info(self._call(self._stub.Info, pb.InfoRequest(), timeout_ms))

    def health(self, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> bool:
        """Whether the server says it is serving. Raises `Unavailable` if it says nothing."""
        request = health_pb2.HealthCheckRequest()
        return _serving(self._call(self._health.Check, request, timeout_ms))

    def _call(self, method: Callable[..., T], request: object, timeout_ms: int) -> T:
        end, attempt = _end(timeout_ms), 0
        while True:
            try:
                return method(request, **self._options(end))
            except grpc.RpcError as failure:
                time.sleep(self._pause(self._error(failure), attempt, end))
                attempt += 1

    def close(self) -> None:
        self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AsyncClient(_Client):
    """An asynchronous client; an async context manager. Belongs to one event loop."""

    _grpc = grpc.aio

    async def search(self, query: Query) -> SearchResult:
        """Ranked passages."""
        request = wire.encode_query(query)
        return wire.decode_result(await self._call(self._stub.Search, request, query.timeout_ms))

    async def answer(self, query: Query) -> tuple[Answer, SearchResult]:
        """A cited answer, and the hits it was made from."""
        return _last([piece async for piece in self.stream(query)])

    async def stream(self, query: Query) -> AsyncIterator[Piece]:
        """An answer as it is written: pieces of its text, then the whole with its evidence."""
        end, attempt, begun = _end(query.timeout_ms), 0, False
        request = pb.AnswerRequest(search=wire.encode_query(query))
        while True:
            call = self._stub.Answer(request, **self._options(end))
            try:
                async for reply in call:
                    begun = True
                    yield _piece(reply)
                return
            except grpc.RpcError as failure:
                error = self._error(failure)
                if begun:
                    raise error from failure
                await asyncio.sleep(self._pause(error, attempt, end))
                attempt += 1
            finally:
                call.cancel()

    async def paper(self, paper_id: str, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> IndexedPaper:
        """An indexed paper. Raises `NotFound` naming the id."""
        request = _paper_request(paper_id, timeout_ms)
        return wire.decode_paper(await self._call(self._stub.GetPaper, request, timeout_ms))

    async def info(self, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> wire.Info:
        """What the server serves."""
        return wire.decode_info(await self._call(self._stub.Info, pb.InfoRequest(), timeout_ms))

    async def health(self, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> bool:
        """Whether the server says it is serving. Raises `Unavailable` if it says nothing."""
        request = health_pb2.HealthCheckRequest()
        return _serving(await self._call(self._health.Check, request, timeout_ms))

    async def _call(self, method: Callable[..., Any], request: object, timeout_ms: int) -> Any:
        end, attempt = _end(timeout_ms), 0
        while True:
            try:
                return await method(request, **self._options(end))
            except grpc.RpcError as failure:
                await asyncio.sleep(self._pause(self._error(failure), attempt, end))
                attempt += 1

    async def close(self) -> None:
        await self._channel.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


def _piece(reply: pb.AnswerReply) -> Piece:
    return reply.token if reply.HasField("token") else wire.decode_answer(reply)


def _last(pieces: list[Piece]) -> tuple[Answer, SearchResult]:
    match pieces:
        case [*_, (answer, result)]:
            return answer, result
    raise ReciperError("the answer's stream ended before the answer was complete")


def _serving(reply: health_pb2.HealthCheckResponse) -> bool:
    return bool(reply.status == health_pb2.HealthCheckResponse.SERVING)

"""Both clients against a real gRPC server whose answers a test decides."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import grpc
import pytest

from reciper_ray import errors, wire
from reciper_ray.client import ATTEMPTS, AsyncClient, Client
from reciper_ray.errors import DeadlineExceeded, ReciperError, Unavailable
from reciper_ray.types import Piece, Query
from tests.scripted import ANSWER, QUERY, RESULT, Scripted, listening


class Blocking:
    """The blocking client, one connection a call."""

    def __init__(self, address: str, **options: Any) -> None:
        self._new = lambda: Client(address, **options)

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any) -> Any:
            with self._new() as client:
                return getattr(client, name)(*args)

        return call

    def stream(self, query: Query) -> list[Piece]:
        with self._new() as client:
            return list(client.stream(query))


class Awaiting:
    """The asynchronous client, one event loop a call."""

    def __init__(self, address: str, **options: Any) -> None:
        self._new = lambda: AsyncClient(address, **options)

    def __getattr__(self, name: str) -> Any:
        async def call(*args: Any) -> Any:
            async with self._new() as client:
                return await getattr(client, name)(*args)

        return lambda *args: asyncio.run(call(*args))

    def stream(self, query: Query) -> list[Piece]:
        async def call() -> list[Piece]:
            async with self._new() as client:
                return [piece async for piece in client.stream(query)]

        return asyncio.run(call())


@pytest.fixture
def server() -> Scripted:
    return Scripted()


@pytest.fixture
def address(server: Scripted) -> Iterator[str]:
    with listening(server) as address:
        yield address


@pytest.fixture(params=[Blocking, Awaiting], ids=["blocking", "awaiting"])
def kind(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_a_search_returns_the_types_of_the_package(
    kind: Any, server: Scripted, address: str
) -> None:
    assert kind(address).search(QUERY) == RESULT
    assert server.requests == [wire.encode_query(QUERY)]


def test_the_rest_of_the_interface_answers(kind: Any, address: str) -> None:
    client = kind(address)
    assert client.answer(QUERY) == (ANSWER, RESULT)
    assert client.paper("p9").paper.text == "all of it"
    assert client.info().papers == 12
    assert client.health() is False


def test_an_answer_streams_its_text_and_ends_with_the_whole(kind: Any, address: str) -> None:
    *tokens, last = kind(address).stream(QUERY)
    assert "".join(tokens) == ANSWER.text
    assert last == (ANSWER, RESULT)


def test_the_deadline_is_the_querys_with_a_second_of_grace(
    kind: Any, server: Scripted, address: str
) -> None:
    kind(address).search(QUERY)
    assert 5.0 < server.seconds_left < 6.1


def test_the_key_travels_as_bearer_token(kind: Any, server: Scripted, address: str) -> None:
    kind(address, api_key="k3y").search(QUERY)
    assert server.metadata["authorization"] == "Bearer k3y"


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("INVALID_ARGUMENT", errors.InvalidArgument),
        ("NOT_FOUND", errors.NotFound),
        ("UNAUTHENTICATED", errors.Unauthenticated),
        ("RESOURCE_EXHAUSTED", errors.Overloaded),
        ("UNAVAILABLE", errors.Unavailable),
        ("DEADLINE_EXCEEDED", errors.DeadlineExceeded),
        ("FAILED_PRECONDITION", errors.CorruptSnapshot),
        ("ABORTED", errors.PublishConflict),
        ("INTERNAL", errors.ReciperError),
        ("UNIMPLEMENTED", errors.ReciperError),
    ],
)
def test_a_status_becomes_the_error_that_has_it(
    code: str, error: type[ReciperError], kind: Any, server: Scripted, address: str
) -> None:
    server.failures = [grpc.StatusCode[code]] * ATTEMPTS
    with pytest.raises(ReciperError) as raised:
        kind(address).search(QUERY)
    assert type(raised.value) is error
    assert error.status == code or error is ReciperError
    if code != "DEADLINE_EXCEEDED":
        assert f"because of {code}" in str(raised.value)


@pytest.mark.parametrize("code", ["UNAVAILABLE", "RESOURCE_EXHAUSTED"])
def test_a_call_that_may_yet_succeed_is_made_again(
    code: str, kind: Any, server: Scripted, address: str
) -> None:
    server.failures = [grpc.StatusCode[code]] * 2
    assert kind(address).search(QUERY) == RESULT
    assert server.calls == 3


@pytest.mark.parametrize("code", ["UNAVAILABLE", "RESOURCE_EXHAUSTED"])
def test_it_is_not_made_again_for_ever(
    code: str, kind: Any, server: Scripted, address: str
) -> None:
    server.failures = [grpc.StatusCode[code]] * 9
    with pytest.raises(ReciperError):
        kind(address, attempts=2).search(QUERY)
    assert server.calls == 2


@pytest.mark.parametrize("code", ["INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "INTERNAL"])
def test_a_call_that_would_fail_again_is_not_made_again(
    code: str, kind: Any, server: Scripted, address: str
) -> None:
    server.failures = [grpc.StatusCode[code]]
    with pytest.raises(ReciperError):
        kind(address).search(QUERY)
    assert server.calls == 1


def test_a_stream_is_opened_again_before_its_first_piece(
    kind: Any, server: Scripted, address: str
) -> None:
    server.failures = [grpc.StatusCode.UNAVAILABLE]
    *tokens, _ = kind(address).stream(QUERY)
    assert "".join(tokens) == ANSWER.text
    assert server.calls == 2


def test_a_stream_is_not_opened_again_after_its_first_piece(
    kind: Any, server: Scripted, address: str
) -> None:
    server.failures, server.fail_midway = [grpc.StatusCode.UNAVAILABLE], True
    with pytest.raises(Unavailable, match="because of UNAVAILABLE"):
        kind(address).stream(QUERY)
    assert server.calls == 1


def test_a_server_that_hangs_costs_the_deadline_and_no_more(
    kind: Any, server: Scripted, address: str
) -> None:
    server.delay_s = 3.0
    started = time.monotonic()
    with pytest.raises(DeadlineExceeded, match=f"{address} did not answer within timeout_ms"):
        kind(address).search(Query("q", timeout_ms=50))
    assert 1.0 < time.monotonic() - started < 2.0


def test_no_attempt_begins_after_the_deadline(kind: Any, server: Scripted, address: str) -> None:
    server.failures, server.delay_s = [grpc.StatusCode.UNAVAILABLE] * 9, 0.6
    with pytest.raises((Unavailable, DeadlineExceeded)):
        kind(address, attempts=9).search(Query("q", timeout_ms=1))
    assert server.calls == 2


def test_a_server_that_is_not_there_is_named(kind: Any) -> None:
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1:9: .*"):
        kind("127.0.0.1:9", attempts=2).search(QUERY)


def test_leaving_a_stream_cancels_the_call(server: Scripted, address: str) -> None:
    with Client(address) as client:
        stream = client.stream(QUERY)
        assert next(stream) == "Held "
        stream.close()
        assert server.abandoned.wait(5.0)


def test_the_client_imports_neither_ray_nor_torch() -> None:
    heavy = "{'ray', 'torch', 'faiss', 'sentence_transformers'}"
    code = f"import reciper_ray.client, sys; sys.exit(str({heavy} & set(sys.modules) or ''))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip() == ""

"""The real thing: `reciper serve` behind Serve's own proxy and behind HAProxy, over gRPC."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

from reciper_ray import qa
from reciper_ray._generated import reciper_pb2 as pb
from reciper_ray._generated import reciper_pb2_grpc
from reciper_ray.client import AsyncClient, Client
from reciper_ray.errors import Overloaded, Unauthenticated
from reciper_ray.local import open_snapshot
from reciper_ray.snapshot import Snapshot
from reciper_ray.types import Method, Query, SearchResult, View
from tests.serve.server import KEY, Server, reshard

pytestmark = pytest.mark.slow

WORDS = "At what temperature and for how long was the powder sintered?"
AUTHORIZED = (("x-api-key", KEY),)


@pytest.fixture(scope="module", params=["proxy", "haproxy"])
def server(
    request: pytest.FixtureRequest, snapshot: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    serve = {
        "haproxy": request.param == "haproxy",
        "api_key_env": "RECIPER_TEST_KEY",
        "router": {"max_queue": 24},
    }
    with Server(snapshot, tmp_path_factory.mktemp("server"), {"serve": serve}) as running:
        assert running.stdout.startswith("ready: "), running.stderr
        yield running


@pytest.fixture(scope="module")
def channel(server: Server) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(server.address) as channel:
        yield channel


def test_its_one_line_says_where_and_what(server: Server, snapshot: Path) -> None:
    manifest = Snapshot.open(snapshot).manifest
    assert server.stdout == (
        f"ready: gRPC on {server.address}, snapshot {manifest.snapshot_id}"
        f" with {manifest.papers} papers\n"
    )


def test_reflection_lists_the_service_and_describes_it(channel: grpc.Channel) -> None:
    reflected = ProtoReflectionDescriptorDatabase(channel)
    services = set(reflected.get_services())
    assert {"reciper.v1.Reciper", "grpc.health.v1.Health"} <= services
    described = reflected.FindFileContainingSymbol("reciper.v1.Reciper")
    (service,) = described.service
    assert [method.name for method in service.method] == ["Search", "Answer", "GetPaper", "Info"]


def test_health_answers_without_a_key(channel: grpc.Channel) -> None:
    stub = health_pb2_grpc.HealthStub(channel)
    serving = health_pb2.HealthCheckResponse.SERVING
    request = health_pb2.HealthCheckRequest(service="reciper.v1.Reciper")
    assert stub.Check(request, timeout=10).status == serving
    watch = stub.Watch(request, timeout=10)
    assert next(watch).status == serving
    watch.cancel()


@pytest.mark.parametrize("application", [None, "reciper"])
def test_calls_work_with_and_without_the_name_of_the_application(
    application: str | None, channel: grpc.Channel
) -> None:
    metadata = AUTHORIZED + ((("application", application),) if application else ())
    reply = reciper_pb2_grpc.ReciperStub(channel).Search(
        pb.SearchRequest(question=WORDS), timeout=30, metadata=metadata
    )
    assert len(reply.hits) == 10


@pytest.mark.parametrize(
    ("fields", "code", "sentence"),
    [
        ({"method": "magic"}, "INVALID_ARGUMENT", "method = 'magic' is not one of hybrid, reciper"),
        ({"k": 0}, "INVALID_ARGUMENT", "k = 0 is not between 1 and 1000"),
        ({"k": 10**6}, "INVALID_ARGUMENT", "k = 1000000 is not between 1 and 1000"),
        ({"question": ""}, "INVALID_ARGUMENT", "question is empty: ask something"),
        ({"question": "x" * 100_000}, "INVALID_ARGUMENT", "question has 100000 characters; at mos"),
        ({"views": ["figure"]}, "INVALID_ARGUMENT", "views = 'figure' is not one of paragraph"),
        ({"timeout_ms": 1}, "DEADLINE_EXCEEDED", "timeout_ms = 1 passed before"),
    ],
)
@pytest.mark.parametrize("method", ["Search", "Answer"])
def test_a_request_that_cannot_be_served_gets_its_status_and_a_sentence(
    method: str, fields: dict[str, Any], code: str, sentence: str, channel: grpc.Channel
) -> None:
    stub = reciper_pb2_grpc.ReciperStub(channel)
    asked = pb.SearchRequest(**{"question": WORDS, **fields})
    request: Any = asked if method == "Search" else pb.AnswerRequest(search=asked)
    with pytest.raises(grpc.RpcError) as failed:
        _outcome(getattr(stub, method)(request, timeout=30, metadata=AUTHORIZED))
    assert failed.value.code() is grpc.StatusCode[code]
    assert failed.value.details().startswith(sentence)


def _outcome(reply: Any) -> Any:
    """A reply, or all replies of a stream."""
    return list(reply) if hasattr(reply, "__next__") else reply


def test_an_unknown_paper_is_not_found(channel: grpc.Channel) -> None:
    with pytest.raises(grpc.RpcError) as failed:
        reciper_pb2_grpc.ReciperStub(channel).GetPaper(
            pb.GetPaperRequest(paper_id="no-such"), timeout=30, metadata=AUTHORIZED
        )
    assert failed.value.code() is grpc.StatusCode.NOT_FOUND
    assert "no paper 'no-such'" in failed.value.details()


@pytest.mark.parametrize(("key", "sentence"), [("", "no API key"), ("wrong", "API key is wrong")])
def test_a_call_without_the_key_is_refused(key: str, sentence: str, server: Server) -> None:
    with Client(server.address, api_key=key) as client:
        with pytest.raises(Unauthenticated, match=sentence):
            client.search(Query(WORDS))
        with pytest.raises(Unauthenticated, match=sentence):
            client.answer(Query(WORDS))


def test_an_answer_streams_and_quotes_its_evidence(server: Server) -> None:
    with Client(server.address, api_key=KEY) as client:
        *tokens, last = client.stream(Query(WORDS))
    assert len(tokens) > 1
    assert not isinstance(last, str)
    answer, result = last
    assert "".join(t for t in tokens if isinstance(t, str)) == answer.text
    assert answer.citations
    assert {"embed", "candidates", "answer", "total"} <= set(result.stage_ms)


def test_a_reply_of_every_passage_arrives(server: Server) -> None:
    with Client(server.address, api_key=KEY) as client:
        hits = client.search(Query(WORDS, Method.PARAGRAPH, k=1000)).hits
        info = client.info()
    assert len(hits) == min(1000, info.passages[View.PARAGRAPH])
    assert {c.view: c.share for c in info.coverage} == dict.fromkeys(View, 1.0)


def test_too_many_calls_at_once_are_refused_and_the_rest_answered(server: Server) -> None:
    async def run() -> list[SearchResult | BaseException]:
        async with AsyncClient(server.address, api_key=KEY, attempts=1) as client:
            calls = [client.search(Query(f"{WORDS} {n}", k=1)) for n in range(72)]
            return await asyncio.gather(*calls, return_exceptions=True)

    outcomes = asyncio.run(run())
    refused = [o for o in outcomes if isinstance(o, BaseException)]
    assert all(isinstance(error, Overloaded) for error in refused)
    assert 0 < len(refused) <= 72 - 24
    assert "24 requests are under way" in str(refused[0])


def test_a_client_that_tries_again_gets_all_of_them_answered(server: Server) -> None:
    async def run() -> list[SearchResult]:
        async with AsyncClient(server.address, api_key=KEY, attempts=20) as client:
            return await asyncio.gather(
                *(client.search(Query(f"{WORDS} {n}", k=1)) for n in range(48))
            )

    assert all(len(result.hits) == 1 for result in asyncio.run(run()))


REMOTE = {
    "embedder": {"num_replicas": 1, "num_cpus": 0.1},
    "shards": {"num_replicas": 1, "num_cpus": 0.1, "shards_per_replica": 4},
    "reranker": {"num_replicas": 1, "num_cpus": 0.1},
    "answerer": {"num_replicas": 1, "num_cpus": 0.1},
}


@pytest.mark.parametrize(
    ("shards", "serve"), [(1, {}), (2, REMOTE), (7, REMOTE)], ids=["1", "2-remote", "7-remote"]
)
def test_the_same_questions_give_the_same_hits_in_process_and_served(
    shards: int, serve: dict[str, Any], snapshot: Path, sample: Path, tmp_path: Path
) -> None:
    texts = [question.text for question in qa.load(sample / "qa.jsonl")][:50]
    queries = [Query(t, list(Method)[n % len(Method)]) for n, t in enumerate(texts)]
    with open_snapshot(snapshot) as engine:
        expected = asyncio.run(_all(engine, queries, at_once=1))
    reshard(snapshot, tmp_path / "store", shards)
    with Server(tmp_path / "store", tmp_path, {"serve": serve}) as server:
        assert server.stdout.startswith("ready: "), server.stderr

        async def served(at_once: int) -> list[Any]:
            async with AsyncClient(server.address) as client:
                return await _all(client, queries, at_once)

        assert asyncio.run(served(1)) == expected
        assert asyncio.run(served(16)) == expected


async def _all(source: Any, queries: list[Query], at_once: int) -> list[Any]:
    """What makes up a ranking and an answer, of every query, so many at a time."""
    free = asyncio.Semaphore(at_once)

    async def one(query: Query) -> Any:
        async with free:
            result = await source.search(query)
            answer, _ = await source.answer(query)
        return [(hit.passage.passage_id, hit.score) for hit in result.hits], answer

    return await asyncio.gather(*map(one, queries))

"""The router as a plain object over a real store: statuses, limits, health, what replies carry."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from grpc_health.v1 import health_pb2

from reciper_ray import wire
from reciper_ray._generated import reciper_pb2 as pb
from reciper_ray.config import parse
from reciper_ray.copies import Copy
from reciper_ray.errors import ConfigError, Unavailable
from reciper_ray.serve.loading import Handles
from reciper_ray.serve.router import Router
from reciper_ray.types import Coverage, Method, View
from tests.serve.fakes import Context, Handle
from tests.stores import DIMENSION, write_store

PAPERS = ["a", "b", "c", "d", "e"]
SHARDS = 3
WORDS = "at what temperature was the powder fired?"


class Embedder:
    """Answers with one vector for every text, once it may."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.go.set()

    async def embed(self, texts: list[str]) -> list[Any]:
        await self.go.wait()
        return [np.eye(DIMENSION, dtype=np.float32)[0] for _ in texts]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("store")
    return str(folder), write_store(folder, PAPERS, SHARDS).snapshot_id


def router(store: tuple[str, str], embedder: Any = None, groups: Any = (), **serve: Any) -> Router:
    handles = Handles(Handle(embedder or Embedder()), groups)  # type: ignore[arg-type]
    parts = {"embedder": {"num_replicas": 1}}
    return Router(*store, parse({"serve": {**parts, **serve}}), handles)


def search(router: Router, **fields: Any) -> tuple[pb.SearchReply, Context]:
    context = Context()
    request = pb.SearchRequest(**{"question": WORDS, **fields})
    return asyncio.run(router.Search(request, context)), context  # type: ignore[arg-type]


async def collect(stream: AsyncIterator[Any]) -> list[Any]:
    return [reply async for reply in stream]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"method": "magic"}, "method = 'magic' is not one of hybrid, reciper, paragraph"),
        ({"k": 0}, "k = 0 is not between 1 and 1000"),
        ({"k": 10**6}, "k = 1000000 is not between 1 and 1000"),
        ({"question": ""}, "question is empty"),
        ({"question": " \n"}, "question is empty"),
        ({"question": "x" * 100_000}, "question has 100000 characters; at most 8000 allowed"),
        ({"views": ["figure"]}, "views = 'figure' is not one of paragraph, recipe"),
        ({"views": ["recipe"], "method": "bm25"}, "method bm25 searches only"),
        ({"timeout_ms": 0}, "timeout_ms = 0 is not between 1 and 120000"),
        ({"timeout_ms": 10**9}, "timeout_ms = 1000000000 is not between"),
        ({"min_coverage": 1.5}, "min_coverage = 1.5 is not between 0 and 1"),
        ({"filters": pb.Filters(year_from=9, year_to=8)}, "year_from = 9 is after year_to = 8"),
    ],
)
def test_a_bad_request_is_refused_naming_field_and_value(
    fields: dict[str, Any], sentence: str, store: tuple[str, str]
) -> None:
    _, context = search(router(store), **fields)
    assert context.code is grpc.StatusCode.INVALID_ARGUMENT
    assert sentence in context.details


def test_a_bad_question_for_an_answer_raises_with_its_status(store: tuple[str, str]) -> None:
    context = Context()
    request = pb.AnswerRequest(search=pb.SearchRequest(question=WORDS, k=0))
    with pytest.raises(Exception, match="k = 0"):
        asyncio.run(collect(router(store).Answer(request, context)))  # type: ignore[arg-type]
    assert context.code is grpc.StatusCode.INVALID_ARGUMENT


def test_a_reply_says_from_which_snapshot_and_shards_it_came_and_what_it_took(
    store: tuple[str, str],
) -> None:
    reply, context = search(router(store), method="reciper", k=3)
    assert context.code is None
    result = wire.decode_result(reply)
    assert [hit.rank for hit in result.hits] == [1, 2, 3]
    assert result.snapshot_id == store[1]
    assert {"embed", "candidates", "passages", "rerank", "total"} <= set(result.stage_ms)
    assert result.coverage == tuple(
        Coverage(view, SHARDS, tuple(range(SHARDS))) for view in sorted(View)
    )


def test_a_filter_by_a_copys_id_finds_the_paper_kept(tmp_path: Path) -> None:
    copy = Copy("a2", "a2.pdf", "a", "a.txt", "same DOI 10.1000/x")
    served = write_store(tmp_path, PAPERS, SHARDS, copies=[copy])
    asked = pb.Filters(paper_ids=["a2"])
    reply, _ = search(router((str(tmp_path), served.snapshot_id)), filters=asked)
    assert {hit.passage.paper_id for hit in reply.hits} == {"a"}


def test_an_answer_streams_its_text_then_all_of_it(store: tuple[str, str]) -> None:
    context = Context()
    request = pb.AnswerRequest(search=pb.SearchRequest(question=WORDS))
    *tokens, last = asyncio.run(collect(router(store).Answer(request, context)))  # type: ignore[arg-type]
    assert all(reply.HasField("token") for reply in tokens)
    answer, result = wire.decode_answer(last)
    assert "".join(reply.token for reply in tokens) == answer.text
    assert "850 °C" in answer.text
    support = {hit.passage.passage_id: hit.passage.support for hit in result.hits}
    for citation in answer.citations:
        assert citation.quote in support[citation.passage_id]
    assert {reply.served.snapshot_id for reply in (*tokens, last)} == {store[1]}
    assert result.stage_ms["total"] >= result.stage_ms["answer"] > 0


def test_the_answerers_deployment_is_asked_when_there_is_one(store: tuple[str, str]) -> None:
    from reciper_ray.serve.parts import Answerer

    part = Handle(Answerer(), "answerer")
    handles = Handles(Handle(Embedder()), answerer=part)  # type: ignore[arg-type]
    one = {"num_replicas": 1}
    config = parse({"serve": {"embedder": one, "answerer": one}})
    request = pb.AnswerRequest(search=pb.SearchRequest(question=WORDS))
    here = asyncio.run(collect(router(store).Answer(request, Context())))  # type: ignore[arg-type]
    there = asyncio.run(
        collect(Router(*store, config, handles).Answer(request, Context()))  # type: ignore[arg-type]
    )
    assert len(part.calls) == 1
    assert there[-1].answer == here[-1].answer


def test_a_paper_comes_whole(store: tuple[str, str]) -> None:
    context = Context()
    reply = asyncio.run(router(store).GetPaper(pb.GetPaperRequest(paper_id="c"), context))  # type: ignore[arg-type]
    found = wire.decode_paper(reply)
    assert found.paper.text == "Powder c was mixed. It was fired at 850 °C."
    assert [p.passage_id for p in found.passages] == ["c:p:0", "c:p:1", "c:r:0"]
    assert found.recipes[0].steps[0].temperature == "850 °C"
    assert reply.served.snapshot_id == store[1]


@pytest.mark.parametrize(
    ("fields", "code", "sentence"),
    [
        ({"paper_id": "z"}, "NOT_FOUND", "no paper 'z'"),
        ({}, "INVALID_ARGUMENT", "paper_id is empty"),
        ({"paper_id": "c", "timeout_ms": 0}, "INVALID_ARGUMENT", "timeout_ms = 0"),
    ],
)
def test_a_paper_that_is_not_there_is_named(
    fields: dict[str, Any], code: str, sentence: str, store: tuple[str, str]
) -> None:
    context = Context()
    asyncio.run(router(store).GetPaper(pb.GetPaperRequest(**fields), context))  # type: ignore[arg-type]
    assert context.code is grpc.StatusCode[code]
    assert sentence in context.details


def test_the_info_tells_sizes_limits_and_which_shards_answer(store: tuple[str, str]) -> None:
    class Down:
        async def candidates(self, snapshot_id: str, queries: Any) -> Any:
            raise Unavailable("no replica answers")

    whole = [(View.PARAGRAPH, (0, 1, 2), Handle(Down(), "paragraph-shards-0"))]
    served = router(store, groups=whole, shards={"num_replicas": 1})
    info = wire.decode_info(asyncio.run(served.Info(pb.InfoRequest(), Context())))  # type: ignore[arg-type]
    assert info.papers == 5
    assert info.passages == {View.PARAGRAPH: 10, View.RECIPE: 5}
    assert info.methods == tuple(Method)
    assert (info.limits["k"], info.limits["question_chars"]) == (1000, 8000)
    (paragraphs,) = (c for c in info.coverage if c.view is View.PARAGRAPH)
    assert paragraphs.answered == ()
    assert paragraphs.errors == dict.fromkeys(range(SHARDS), "no replica answers")


def test_a_request_over_the_limit_is_refused_and_its_neighbours_are_not(
    store: tuple[str, str],
) -> None:
    async def run() -> list[Context]:
        embedder = Embedder()
        served = router(store, embedder, router={"max_queue": 2})
        embedder.go.clear()
        contexts = [Context() for _ in range(3)]
        request = pb.SearchRequest(question=WORDS)
        calls = [asyncio.create_task(served.Search(request, c)) for c in contexts]  # type: ignore[arg-type]
        await asyncio.sleep(0.05)
        embedder.go.set()
        await asyncio.gather(*calls)
        return contexts

    first, second, third = asyncio.run(run())
    assert (first.code, second.code) == (None, None)
    assert third.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert third.details == "2 requests are under way (serve.router.max_queue)"


def test_a_cancelled_request_makes_room(store: tuple[str, str]) -> None:
    async def run() -> Context:
        embedder = Embedder()
        served = router(store, embedder, router={"max_queue": 1})
        embedder.go.clear()
        request = pb.SearchRequest(question=WORDS)
        call = asyncio.create_task(served.Search(request, Context()))  # type: ignore[arg-type]
        await asyncio.sleep(0.05)
        call.cancel()
        await asyncio.wait([call])
        embedder.go.set()
        context = Context()
        await served.Search(request, context)  # type: ignore[arg-type]
        return context

    assert asyncio.run(run()).code is None


@pytest.mark.parametrize("timeout_ms", [1, 60])
def test_the_requests_own_deadline_ends_it(timeout_ms: int, store: tuple[str, str]) -> None:
    async def run() -> Context:
        embedder = Embedder()
        served = router(store, embedder)
        embedder.go.clear()
        context = Context()
        await served.Search(pb.SearchRequest(question=WORDS, timeout_ms=timeout_ms), context)  # type: ignore[arg-type]
        return context

    context = asyncio.run(run())
    assert context.code is grpc.StatusCode.DEADLINE_EXCEEDED
    assert context.details.startswith(f"timeout_ms = {timeout_ms} passed")


def test_an_error_of_no_kind_of_ours_is_internal(store: tuple[str, str]) -> None:
    class Broken:
        async def embed(self, texts: list[str]) -> Any:
            raise ZeroDivisionError("no")

    _, context = search(router(store, Broken()))
    assert context.code is grpc.StatusCode.INTERNAL
    assert context.details == "ZeroDivisionError: no; the server's log says more"


def test_every_method_but_health_asks_for_the_key(
    store: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "k3y")
    served = router(store, api_key_env="A_KEY")

    def code(method: Callable[..., Any], request: Any, key: str) -> grpc.StatusCode | None:
        context = Context([("x-api-key", key)])
        asyncio.run(method(request, context))
        return context.code

    for method, request in (
        (served.Search, pb.SearchRequest(question=WORDS)),
        (served.GetPaper, pb.GetPaperRequest(paper_id="c")),
        (served.Info, pb.InfoRequest()),
    ):
        assert code(method, request, "wrong") is grpc.StatusCode.UNAUTHENTICATED
        assert code(method, request, "k3y") is None
    assert code(served.Check, health_pb2.HealthCheckRequest(), "wrong") is None


def test_a_variable_without_the_key_stops_the_router(
    store: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("A_KEY", raising=False)
    with pytest.raises(ConfigError, match=r"serve\.api_key_env = 'A_KEY'"):
        router(store, api_key_env="A_KEY")


@pytest.mark.parametrize("service", ["", "reciper.v1.Reciper"])
def test_health_says_serving(service: str, store: tuple[str, str]) -> None:
    async def run() -> tuple[int, int]:
        served, request = router(store), health_pb2.HealthCheckRequest(service=service)
        checked = await served.Check(request, Context())  # type: ignore[arg-type]
        watch = served.Watch(request, Context())  # type: ignore[arg-type]
        return checked.status, (await anext(watch)).status

    serving = health_pb2.HealthCheckResponse.SERVING
    assert asyncio.run(run()) == (serving, serving)


def test_health_of_an_unknown_service_is_not_found(store: tuple[str, str]) -> None:
    async def run() -> tuple[Context, int]:
        context, request = Context(), health_pb2.HealthCheckRequest(service="other")
        served = router(store)
        await served.Check(request, context)  # type: ignore[arg-type]
        return context, (await anext(served.Watch(request, Context()))).status  # type: ignore[arg-type]

    context, watched = asyncio.run(run())
    assert context.code is grpc.StatusCode.NOT_FOUND
    assert "service = 'other'" in context.details
    assert watched == health_pb2.HealthCheckResponse.SERVICE_UNKNOWN


def test_the_parts_need_not_be_loaded_to_bind_the_graph() -> None:
    code = "import reciper_ray.serve.app, sys; sys.exit(str({'torch', 'faiss'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip().endswith("set()")


def test_a_store_is_opened_at_the_pinned_snapshot(tmp_path: Path) -> None:
    old = write_store(tmp_path, ["a"], SHARDS).snapshot_id
    new = write_store(tmp_path, ["a", "b"], SHARDS).snapshot_id
    assert old != new
    reply, _ = search(router((str(tmp_path), old)))
    assert reply.served.snapshot_id == old
    assert {hit.passage.paper_id for hit in reply.hits} == {"a"}

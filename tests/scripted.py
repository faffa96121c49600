"""A real gRPC server of the interface whose answers a test decides."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from reciper_ray import wire
from reciper_ray._generated import reciper_pb2 as pb
from reciper_ray._generated import reciper_pb2_grpc
from reciper_ray.types import (
    Answer,
    Citation,
    Coverage,
    Hit,
    Original,
    Passage,
    Query,
    SearchResult,
    Span,
    View,
)

TEXT, IN_FILE = "held at 600 °C", "held at 600 oC"
PASSAGE = Passage(
    passage_id="p:1",
    paper_id="p",
    view=View.PARAGRAPH,
    ordinal=0,
    title="T",
    heading="Methods",
    text=TEXT,
    support=TEXT,
    originals=(Original(8, 14, "600 oC"),),
    page=3,
    last_page=4,
)
COVERAGE = Coverage(View.PARAGRAPH, 2, (0,), {1: "out of memory"})
RESULT = SearchResult(
    (Hit(PASSAGE, 0.5, 1, {"dense": 0.3, "lexical": 0.2}, {"held": 0.05, "@873K": 0.15}),),
    "s1",
    {"total": 1.5},
    (COVERAGE,),
)
CITATION = Citation(1, "p", "p:1", "T", TEXT, Span(3, 17), IN_FILE, 3, 4)
ANSWER = Answer(
    "Held at 600 °C [1].",
    False,
    (CITATION,),
    answerer="vllm:m",
    unsupported=("quantity not in what it cites",),
)
QUERY = Query("at what temperature?", timeout_ms=5000)


@dataclass
class Scripted(reciper_pb2_grpc.ReciperServicer, health_pb2_grpc.HealthServicer):
    """Fails the first calls as told, before or after the first message, then succeeds."""

    failures: list[grpc.StatusCode] = field(default_factory=list)
    fail_midway: bool = False
    delay_s: float = 0.0
    calls: int = 0
    requests: list[Any] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)
    seconds_left: float = 0.0
    abandoned: threading.Event = field(default_factory=threading.Event)

    def Search(self, request: pb.SearchRequest, context: Any) -> pb.SearchReply:
        self._received(request, context)
        return wire.encode_result(RESULT)

    def Answer(self, request: pb.AnswerRequest, context: Any) -> Iterator[pb.AnswerReply]:
        context.add_callback(self.abandoned.set)
        if self.fail_midway:
            yield pb.AnswerReply(token="Held ")
        self._received(request, context)
        for token in ("Held ", "at 600 °C [1]."):
            yield pb.AnswerReply(token=token)
        yield wire.encode_answer(ANSWER, RESULT, {"total": 1.5})

    def GetPaper(self, request: pb.GetPaperRequest, context: Any) -> pb.GetPaperReply:
        self._received(request, context)
        return pb.GetPaperReply(paper_id=request.paper_id, text="all of it")

    def Info(self, request: pb.InfoRequest, context: Any) -> pb.InfoReply:
        self._received(request, context)
        return pb.InfoReply(papers=12, methods=["bm25"], served=pb.Served(snapshot_id="s1"))

    def Check(self, request: Any, context: Any) -> health_pb2.HealthCheckResponse:
        self._received(request, context)
        return health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.NOT_SERVING)

    def _received(self, request: Any, context: Any) -> None:
        self.calls += 1
        self.requests.append(request)
        self.metadata = dict(context.invocation_metadata())
        self.seconds_left = context.time_remaining()
        time.sleep(self.delay_s)
        if self.failures:
            code = self.failures.pop(0)
            context.abort(code, f"because of {code.name}")


@contextmanager
def listening(service: Scripted) -> Iterator[str]:
    """The address where the service answers."""
    running = grpc.server(ThreadPoolExecutor(4))
    reciper_pb2_grpc.add_ReciperServicer_to_server(service, running)
    health_pb2_grpc.add_HealthServicer_to_server(service, running)
    port = running.add_insecure_port("127.0.0.1:0")
    running.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        running.stop(None).wait()

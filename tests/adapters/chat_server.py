"""A real HTTP server with an OpenAI-like API whose behaviour tests set."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """`body` is sent as it is if it is bytes, else as a completion with that text; a list as a
    stream with those pieces, `pause_s` apart, which `ends` as it should or breaks off."""

    body: str | bytes | list[str] = "{}"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    pause_s: float = 0.0
    ends: bool = True


@dataclass
class ChatServer:
    """`reply` decides by the request's body and how often that prompt was seen before."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    most_at_once: int = 0
    left: int = 0


@contextmanager
def serving(reply: Callable[[dict[str, Any], int], Reply], key: str = "") -> Iterator[ChatServer]:
    lock = threading.Lock()
    running = 0

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            refused = key and self.headers.get("Authorization") != f"Bearer {key}"
            self._send(401 if refused else 200, b'{"data": []}', {})

        def do_POST(self) -> None:
            nonlocal running
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                running += 1
                state.most_at_once = max(state.most_at_once, running)
                asked = [m["content"] for m in body["messages"]]
                seen = sum([m["content"] for m in r["messages"]] == asked for r in state.requests)
                state.requests.append(body)
                state.keys.append(self.headers.get("Authorization", ""))
            answer = reply(body, seen)
            time.sleep(answer.delay_s)
            with lock:
                running -= 1
            data = answer.body
            if isinstance(data, list):
                return self._stream(data, answer)
            if isinstance(data, str):
                message = {"message": {"role": "assistant", "content": data}}
                usage = {"prompt_tokens": 7, "completion_tokens": 3}
                data = json.dumps({"choices": [message], "usage": usage}).encode()
            self._send(answer.status, data, answer.headers)

        def _stream(self, pieces: list[str], answer: Reply) -> None:
            events = [{"choices": [{"delta": {"content": piece}}]} for piece in pieces]
            lines = [json.dumps(event) for event in events]
            if answer.ends:
                last = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
                lines += [json.dumps(last), "[DONE]"]
            try:
                self.send_response(answer.status)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                for line in lines:
                    self.wfile.write(f"data: {line}\n\n".encode())
                    self.wfile.flush()
                    time.sleep(answer.pause_s)
            except (BrokenPipeError, ConnectionResetError):
                state.left += 1

        def _send(self, status: int, data: bytes, headers: dict[str, str]) -> None:
            try:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client did not wait

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state = ChatServer(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

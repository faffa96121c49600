"""Small stand-ins for what Serve hands to our code: a deployment's handle, a call's context."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import grpc


class Remote:
    """One method of a handle."""

    def __init__(self, method: Callable[..., Any], record: Callable[..., None]) -> None:
        self._method = method
        self._record = record

    async def remote(self, *args: Any) -> Any:
        self._record(*args)
        return await self._method(*args)


class Handle:
    """A handle to a part that lives in this process; it keeps the arguments of every call."""

    def __init__(self, part: Any, name: str = "part") -> None:
        self.deployment_name = name
        self.calls: list[tuple[Any, ...]] = []
        self._part = part

    def __getattr__(self, method: str) -> Remote:
        return Remote(getattr(self._part, method), lambda *args: self.calls.append(args))


@dataclass
class Context:
    """A gRPC context as Serve gives it to a deployment."""

    metadata: list[tuple[str, str]] = field(default_factory=list)
    code: grpc.StatusCode | None = None
    details: str = ""

    def invocation_metadata(self) -> list[tuple[str, str]]:
        return self.metadata

    def set_code(self, code: grpc.StatusCode) -> None:
        self.code = code

    def set_details(self, details: str) -> None:
        self.details = details

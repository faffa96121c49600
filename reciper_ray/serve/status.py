"""Where errors and credentials meet gRPC: the one table from errors to status codes, API keys."""

import hmac
import logging
from collections.abc import Iterable
from typing import Protocol

import grpc

from reciper_ray.errors import ReciperError, Unauthenticated

# Details travel in HTTP/2 trailers, which clients limit to 8 KiB in all.
MAX_DETAILS = 1000

logger = logging.getLogger(__name__)


class Context(Protocol):
    """The part of a gRPC context that is used here."""

    def set_code(self, code: grpc.StatusCode) -> None: ...

    def set_details(self, details: str) -> None: ...


def set_status(context: Context, error: Exception) -> None:
    """Tell the caller of `error`: its status and sentence, or INTERNAL for one that is not the
    product's own (and then the log has it whole)."""
    if isinstance(error, ReciperError):
        code, details = grpc.StatusCode[error.status], str(error)
    else:
        logger.error("a request failed", exc_info=error)
        code = grpc.StatusCode.INTERNAL
        details = f"{type(error).__name__}: {error}; the server's log says more"
    if len(details) > MAX_DETAILS:
        details = details[: MAX_DETAILS - 1] + "…"
    context.set_code(code)
    context.set_details(details)


def authorize(metadata: Iterable[tuple[str, str]], api_key: str) -> None:
    """Raise `Unauthenticated` unless a call's metadata carry `api_key`; "" lets everyone in."""
    if not api_key:
        return
    sent = dict(metadata)
    scheme, _, token = sent.get("authorization", "").partition(" ")
    given = token.strip() if scheme.lower() == "bearer" else sent.get("x-api-key", "")
    if not given:
        raise Unauthenticated(
            "no API key: send it as metadata `authorization: Bearer KEY` or `x-api-key: KEY`"
        )
    if not hmac.compare_digest(given.encode(), api_key.encode()):
        raise Unauthenticated("the API key is wrong")

import logging

import grpc
import pytest

from reciper_ray import errors
from reciper_ray.errors import ReciperError, Unauthenticated
from reciper_ray.serve.status import MAX_DETAILS, authorize, set_status
from tests.serve.fakes import Context

OURS = [kind for kind in vars(errors).values() if isinstance(kind, type)]


@pytest.mark.parametrize("kind", [k for k in OURS if issubclass(k, ReciperError)])
def test_each_of_our_errors_has_its_status_and_keeps_its_sentence(
    kind: type[ReciperError],
) -> None:
    context = Context()
    set_status(context, kind("k = 0 is not between 1 and 1000"))
    assert context.code is grpc.StatusCode[kind.status]
    assert context.details == "k = 0 is not between 1 and 1000"


def test_a_foreign_error_is_internal_named_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    context = Context()
    # vLLM disables all logging while it reads a model, and may leave it so.
    with caplog.at_level(logging.ERROR):
        set_status(context, KeyError("row"))
    assert context.code is grpc.StatusCode.INTERNAL
    assert context.details == "KeyError: 'row'; the server's log says more"
    assert "a request failed" in caplog.text


def test_details_fit_into_the_trailers() -> None:
    context = Context()
    set_status(context, errors.InvalidArgument("x" * 100_000))
    assert len(context.details) == MAX_DETAILS
    assert context.details.endswith("…")


@pytest.mark.parametrize(
    "metadata",
    [
        [("authorization", "Bearer k3y")],
        [("authorization", "bearer k3y")],
        [("x-api-key", "k3y")],
        [("authorization", "Basic abc"), ("x-api-key", "k3y")],
    ],
)
def test_the_key_is_taken_from_either_place(metadata: list[tuple[str, str]]) -> None:
    authorize(metadata, "k3y")


@pytest.mark.parametrize(
    ("metadata", "sentence"),
    [
        ([], "no API key"),
        ([("authorization", "Bearer ")], "no API key"),
        ([("authorization", "k3y")], "no API key"),
        ([("x-api-key", "other")], "the API key is wrong"),
        ([("authorization", "Bearer k3y2")], "the API key is wrong"),
        ([("x-api-key", "schlüssel")], "the API key is wrong"),
    ],
)
def test_a_missing_or_wrong_key_is_refused(metadata: list[tuple[str, str]], sentence: str) -> None:
    with pytest.raises(Unauthenticated, match=sentence):
        authorize(metadata, "k3y")


def test_without_a_key_of_its_own_a_server_asks_for_none() -> None:
    authorize([], "")

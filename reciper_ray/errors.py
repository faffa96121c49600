"""Every error the product raises on purpose.

Each takes one message argument, because errors cross process borders pickled, and says by
class attributes what a caller may do about it: `retryable` whether the same call may
succeed later, `status` the name of the gRPC status code it becomes at the border.
"""

from typing import ClassVar


class ReciperError(Exception):
    """Base of all errors raised on purpose; its message is one sentence for a person."""

    retryable: ClassVar[bool] = False
    status: ClassVar[str] = "INTERNAL"


class InvalidArgument(ReciperError):
    """A request or option is wrong; the message names the field and the value."""

    status = "INVALID_ARGUMENT"


class ConfigError(InvalidArgument):
    """A configuration file has an unknown key, a missing key or a bad value."""


class NotFound(ReciperError):
    """No such snapshot or paper."""

    status = "NOT_FOUND"


class Unauthenticated(ReciperError):
    """The API key is missing or wrong."""

    status = "UNAUTHENTICATED"


class Overloaded(ReciperError):
    """A queue is full; try again after a while."""

    retryable = True
    status = "RESOURCE_EXHAUSTED"


class CoverageTooLow(ReciperError):
    """Fewer shards answered than the request's `min_coverage` asks for."""

    retryable = True
    status = "UNAVAILABLE"


class Unavailable(ReciperError):
    """A part of the system is down or starting."""

    retryable = True
    status = "UNAVAILABLE"


class SnapshotNotLoaded(Unavailable):
    """This replica does not hold the pinned snapshot; another one may."""


class DeadlineExceeded(ReciperError):
    """The request's `timeout_ms` passed before its answer was complete."""

    status = "DEADLINE_EXCEEDED"


class UnreadableInput(ReciperError):
    """A source file (or one record of it) cannot be read as a paper; it goes to quarantine.

    The message is the reason and names neither the path nor the stage: quarantine adds them.
    """

    status = "INVALID_ARGUMENT"


class CorruptSnapshot(ReciperError):
    """A snapshot's file is missing, has other bytes than its manifest says, or does not fit."""

    status = "FAILED_PRECONDITION"


class PublishConflict(ReciperError):
    """Another build published meanwhile; publishing over it would lose its papers."""

    status = "ABORTED"


class MissingExtra(ReciperError):
    """An optional package is not installed; the message names the extra that brings it."""

    status = "FAILED_PRECONDITION"

"""The exception of all failed calls."""

from __future__ import annotations

import json
from typing import Any, Optional, TypedDict

import httpx


class FieldError(TypedDict):
    """An invalid field of a request: its dotted path and how to correct it."""

    path: str
    message: str


class BridgeClientError(Exception):
    """
    A failed call. `code` is an error code of Bridge (`not_found`, `task_conflict` …) or of the client: `unreachable`
    (no response), `unexpected_answer` (a response that is not from Bridge, for example from a proxy) or `stream_gap`
    (events were deleted before they were read).
    """

    code: str
    message: str
    #: HTTP status; None when there was no response.
    status: Optional[int]
    #: Id of the request in Bridge's log; None when there was no response.
    request_id: Optional[str]
    errors: tuple[FieldError, ...]
    #: Pause that Bridge requests before a retry.
    retry_after_seconds: Optional[float]
    #: Only with the code `queue_full`: the queue that is full, "bridge", "tenant" or "agent".
    queue: Optional[str]
    #: The complete problem document of Bridge (RFC 9457); empty for an error of the client.
    problem: dict[str, Any]
    #: Whether no connection was established, so that the address may be wrong.
    never_connected: bool

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: Optional[int] = None,
        request_id: Optional[str] = None,
        retry_after_seconds: Optional[float] = None,
        problem: Optional[dict[str, Any]] = None,
    ) -> None:
        # Both are in `args`, so that the error can be pickled, for example by a worker pool.
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.status = status
        self.request_id = request_id
        self.retry_after_seconds = retry_after_seconds
        self.problem = problem or {}
        self.errors = tuple(self.problem.get("errors", ()))
        self.queue = self.problem.get("queue")
        self.never_connected = False

    def __str__(self) -> str:
        return self.message


def read_error(response: httpx.Response) -> BridgeClientError:
    """Creates the error for a response that is not a success. Its body must have been read."""
    problem = _parse_problem(response.content)
    if problem is None:
        problem = {"code": "unexpected_answer", "detail": f"HTTP {response.status_code}: {response.text[:200]}"}
    return BridgeClientError(
        problem["code"],
        str(problem.get("detail", problem["code"])),
        status=response.status_code,
        request_id=problem.get("requestId", response.headers.get("x-request-id")),
        retry_after_seconds=_parse_seconds(response.headers.get("retry-after")),
        problem=None if problem["code"] == "unexpected_answer" else problem,
    )


def unexpected_answer(response: httpx.Response, detail: str) -> BridgeClientError:
    """Creates the error for a successful response that is not from Bridge."""
    message = f"HTTP {response.status_code}: {detail}"
    request_id = response.headers.get("x-request-id")
    return BridgeClientError("unexpected_answer", message, status=response.status_code, request_id=request_id)


def _parse_problem(content: bytes) -> Optional[dict[str, Any]]:
    try:
        problem = json.loads(content)
    except ValueError:
        return None
    return problem if isinstance(problem, dict) and isinstance(problem.get("code"), str) else None


def _parse_seconds(text: Optional[str]) -> Optional[float]:
    return float(text) if text is not None and text.isascii() and text.isdigit() else None

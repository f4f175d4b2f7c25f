"""The requests of the API and how their responses are read, without sending them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Optional, TypeVar, cast
from urllib.parse import quote, urlencode

import httpx

from .errors import unexpected_answer
from .wire import (
    Adapter,
    Approval,
    ApprovalDecision,
    Budget,
    Callback,
    CallbackDetails,
    CancelledTask,
    DispatchCheck,
    DispatchedTask,
    DispatchRequest,
    Identity,
    Task,
    TaskDiff,
)

T = TypeVar("T")

# Maximum time of the check of an adapter.
_CHECK_SECONDS = 30
# Bridge limits a diff or a patch, including the wait for its turn, to 25 s.
_DIFF_SECONDS = 30
# Bridge holds a request with `Prefer: wait` at most this long.
MAX_WAIT_SECONDS = 60


def _read_json(response: httpx.Response) -> Any:
    try:
        return json.loads(response.content)
    except ValueError as cause:
        raise unexpected_answer(response, response.text[:200]) from cause


def _read_nothing(_response: httpx.Response) -> None:
    return None


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request, whose `path` begins with a slash."""

    method: str
    path: str
    #: Reads a successful response, whose body has been received.
    read: Callable[[httpx.Response], T] = _read_json
    #: Sent as JSON.
    body: Optional[Mapping[str, Any]] = None
    headers: Mapping[str, str] = field(default_factory=dict)
    #: How long Bridge may take before it responds, in addition to the limit of silence.
    wait_seconds: float = 0
    #: Whether processing the request twice has the same effect as once.
    is_repeatable: bool = True


def dispatch(request: DispatchRequest) -> Call[DispatchedTask]:
    """Returns the call that dispatches a task, with an id that makes it repeatable."""

    def read(response: httpx.Response) -> DispatchedTask:
        is_replayed = response.headers.get("idempotent-replayed") == "true"
        return cast(DispatchedTask, {**_read_json(response), "replayed": is_replayed})

    body: dict[str, Any] = {**cast(Mapping[str, Any], request), "taskId": request.get("taskId") or secrets.token_hex(16)}
    return Call("POST", "/api/v2/dispatch", read, body=body)


def check_dispatch(request: DispatchRequest) -> Call[DispatchCheck]:
    """Returns the call that checks a dispatch and starts nothing."""
    return Call("POST", "/api/v2/dispatch/check", body=cast(Mapping[str, Any], request))


def get_task(task_id: str, wait_seconds: float = 0) -> Call[Task]:
    """Returns the call that reads a task, and waits up to `wait_seconds` for its end."""
    if wait_seconds <= 0:
        return Call("GET", task_path(task_id))
    # The header takes whole seconds.
    seconds = min(max(1, -int(-wait_seconds // 1)), MAX_WAIT_SECONDS)
    return Call("GET", task_path(task_id), headers={"prefer": f"wait={seconds}"}, wait_seconds=seconds)


def delete_task(task_id: str) -> Call[None]:
    """Returns the call that deletes a task."""
    return Call("DELETE", task_path(task_id), _read_nothing, is_repeatable=False)


def cancel(task_id: str) -> Call[CancelledTask]:
    """Returns the call that cancels a task."""
    return Call("POST", f"{task_path(task_id)}/cancel")


def get_diff(task_id: str) -> Call[TaskDiff]:
    """Returns the call that reads the diff of a task."""
    return Call("GET", f"{task_path(task_id)}/diff", wait_seconds=_DIFF_SECONDS)


def get_patch(task_id: str) -> Call[bytes]:
    """Returns the call that reads the commits of a task as patches."""
    return Call("GET", f"{task_path(task_id)}/patch", lambda response: response.content, wait_seconds=_DIFF_SECONDS)


def download_file(task_id: str, path: str) -> Call[bytes]:
    """Returns the call that reads a file that a task left in its workspace."""
    return Call("GET", f"{task_path(task_id)}/files/{quote(path)}", lambda response: response.content)


def decide_approval(
    approval_id: str, decision: ApprovalDecision, reason: Optional[str], raise_by_usd: Optional[float]
) -> Call[Approval]:
    """Returns the call that approves or rejects a tool call or a budget."""
    body: dict[str, Any] = {"decision": decision}
    if reason is not None:
        body["reason"] = reason
    if raise_by_usd is not None:
        body["raiseByUsd"] = raise_by_usd
    # A retry could not distinguish its own earlier decision from one of another client.
    return Call("POST", f"/api/v2/approvals/{_encode(approval_id)}", body=body, is_repeatable=False)


def adjust_budget(name: str, spent_usd: float, reason: str) -> Call[Budget]:
    """Returns the call that corrects what is spent of a budget."""
    body = {"spentUsd": spent_usd, "reason": reason}
    return Call("POST", f"/api/v2/budgets/{_encode(name)}/adjust", body=body)


def get_callback(task_id: str) -> Call[CallbackDetails]:
    """Returns the call that reads a callback with its last attempts."""
    return Call("GET", f"/api/v2/callbacks/{_encode(task_id)}")


def redeliver_callback(task_id: str) -> Call[Callback]:
    """Returns the call that starts a new round of attempts for a dead callback."""
    # A retry could not distinguish its own earlier redelivery from one of another client.
    return Call("POST", f"/api/v2/callbacks/{_encode(task_id)}/redeliver", is_repeatable=False)


def check_adapter(provider: str) -> Call[Adapter]:
    """Returns the call that checks the health of an adapter."""
    return Call("POST", f"/api/v2/adapters/{_encode(provider)}/check", wait_seconds=_CHECK_SECONDS)


def get_identity() -> Call[Identity]:
    """Returns the call that reads the name, tenant and scopes of the token."""
    return Call("GET", "/api/v2/me")


def list_page(path: str, filter: Optional[Mapping[str, Any]], cursor: Optional[str]) -> Call[Any]:
    """Returns the call that reads one page of a list."""
    query = {name: value for name, value in (filter or {}).items() if value is not None}
    if cursor is not None:
        query["cursor"] = cursor
    return Call("GET", f"{path}?{urlencode(query)}" if query else path)


def open_stream(path: str, last_event_id: Optional[str]) -> Call[None]:
    """Returns the call that opens a stream of events."""
    resume = {} if last_event_id is None else {"last-event-id": last_event_id}
    return Call("GET", path, _read_nothing, headers={"accept": "text/event-stream", **resume})


def task_path(task_id: str) -> str:
    """Returns the path of a task."""
    return f"/api/v2/tasks/{_encode(task_id)}"


def _encode(name: str) -> str:
    return quote(name, safe="")

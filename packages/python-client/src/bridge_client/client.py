"""The synchronous client."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from types import TracebackType
from typing import Any, Optional, TypeVar, Union

import httpx

from . import calls
from .calls import Call
from .connection import create_connection
from .errors import BridgeClientError, read_error
from .event_follower import EventFollower
from .events import BridgeEvent, EventFilter, Gap
from .retry import is_retryable
from .wire import (
    Adapter,
    Approval,
    ApprovalDecision,
    ApprovalFilter,
    Budget,
    Callback,
    CallbackDetails,
    CallbackFilter,
    CancelledTask,
    DispatchCheck,
    DispatchedTask,
    DispatchRequest,
    Domain,
    Identity,
    ListedTask,
    Repository,
    Task,
    TaskDiff,
    TaskFile,
    TaskFilter,
    is_final,
)

T = TypeVar("T")


class BridgeClient:
    """
    Client of Bridge's API. Calls raise a `BridgeClientError`. Threads can share a client. It sends nothing before the
    first call. Close it, or use it in a `with` statement.
    """

    approvals: Approvals
    budgets: Budgets
    callbacks: Callbacks
    files: Files
    repositories: Repositories

    def __init__(
        self,
        url: str,
        *,
        token: Optional[str] = None,
        get_token: Optional[Callable[[], str]] = None,
        http_client: Optional[httpx.Client] = None,
        patience_seconds: float = 120,
        retry_delay_seconds: float = 0.5,
        silence_seconds: float = 31,
        waits_for_start: bool = False,
    ) -> None:
        """
        `url` is the URL of Bridge, including the path prefix of a reverse proxy. Pass `token`, or `get_token`, which is
        called before every request, for tokens that change. `http_client` sets proxies, certificates and limits of
        connections, and is not closed with this client. The client retries for `patience_seconds` before it raises,
        which is long enough for a restart of Bridge. `retry_delay_seconds` is the first pause before a retry; it is
        doubled for each further retry, up to 20 times the first. A connection that receives nothing for
        `silence_seconds` is closed; Bridge sends a heartbeat every 15 s. If the address has never answered this client, a
        call raises `unreachable` at once; with `waits_for_start` it retries, for example while Bridge is being started.
        """
        if (token is None) == (get_token is None):
            raise ValueError("Pass either `token` or `get_token`.")
        self._connection = create_connection(
            url,
            waits_for_start,
            patience_seconds=patience_seconds,
            retry_delay_seconds=retry_delay_seconds,
            silence_seconds=silence_seconds,
        )
        self._get_token = get_token or (lambda: token or "")
        self._http = http_client or httpx.Client()
        self._owns_http = http_client is None
        self.approvals = Approvals(self)
        self.budgets = Budgets(self)
        self.callbacks = Callbacks(self)
        self.files = Files(self)
        self.repositories = Repositories(self)

    def __enter__(self) -> BridgeClient:
        return self

    def __exit__(
        self,
        _type: Optional[type[BaseException]],
        _error: Optional[BaseException],
        _traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        if self._owns_http:
            self._http.close()

    def dispatch(self, request: DispatchRequest) -> DispatchedTask:
        """
        Dispatches a task. Retried safely, because Bridge runs a task id only once. `replayed` is true if the task
        existed before.
        """
        return self._send(calls.dispatch(request))

    def check_dispatch(self, request: DispatchRequest) -> DispatchCheck:
        """Checks a dispatch, and returns what it would do. Stores and starts nothing."""
        return self._send(calls.check_dispatch(request))

    def run(self, request: DispatchRequest, *, timeout: Optional[float] = None) -> Task:
        """
        Dispatches a task and waits for its end. A failed task raises nothing: check `state` and `result`. Raises
        `TimeoutError` after `timeout` seconds; the task continues.
        """
        deadline = _Deadline(timeout)
        task_id = self._send(calls.dispatch(request), deadline)["taskId"]
        return self._wait_for_task(task_id, deadline)

    def get_task(self, task_id: str, *, wait_seconds: float = 0) -> Task:
        """Returns a task. With `wait_seconds` (at most 60), waits that long for its end."""
        return self._send(calls.get_task(task_id, wait_seconds))

    def wait_for_task(self, task_id: str, *, timeout: Optional[float] = None) -> Task:
        """
        Returns the task when it has ended, also across restarts of Bridge. Raises `TimeoutError` after `timeout`
        seconds; the task continues.
        """
        return self._wait_for_task(task_id, _Deadline(timeout))

    def delete_task(self, task_id: str) -> None:
        """
        Deletes an ended task, its child tasks and all their data. Raises `invalid_state` while the task runs or its
        callback is being delivered. Not retried: after `unreachable` it is unknown whether the task was deleted.
        """
        self._send(calls.delete_task(task_id))

    def list_tasks(self, filter: Optional[TaskFilter] = None) -> Iterator[ListedTask]:
        """Lists the matching tasks, newest first. Pages are fetched on demand."""
        return self._list("/api/v2/tasks", filter)

    def cancel(self, task_id: str) -> CancelledTask:
        """Cancels a task and its child tasks. Has no effect on an ended task."""
        return self._send(calls.cancel(task_id))

    def events(
        self,
        source: Union[str, EventFilter, None] = None,
        *,
        after: Optional[str] = None,
        on_gap: Optional[Callable[[Gap], object]] = None,
    ) -> Generator[BridgeEvent, None, None]:
        """
        Follows events across disconnects and restarts of Bridge, without losing or repeating any. With a task id: all
        events of the task, until its terminal event. With a filter: new events, until the loop is left. `after` is the
        id of the last received event. If Bridge has deleted events after it, the stream calls `on_gap` and continues
        with the oldest event; without `on_gap` it raises `stream_gap`.
        """
        follower = EventFollower(source, after, on_gap)
        backoff = self._connection.create_backoff()
        while not follower.is_over:
            try:
                with self._open(follower.connect()) as response:
                    follower.accept(response)
                    for chunk in response.iter_bytes():
                        backoff.reset()
                        yield from follower.read(chunk)
                        if follower.is_over:
                            return
                failure = BridgeClientError("unreachable", "Bridge ended the event stream.")
            except httpx.RequestError as cause:
                failure = self._connection.unreachable(cause)
            except BridgeClientError as error:
                if not is_retryable(error, True):
                    raise
                failure = error
            if not follower.is_over:
                time.sleep(backoff.next_pause(failure))

    def get_identity(self) -> Identity:
        """Returns the name, tenant, scopes and expiry of the token."""
        return self._send(calls.get_identity())

    def list_adapters(self) -> Iterator[Adapter]:
        """Lists the adapters with their health, capabilities and load."""
        return self._list("/api/v2/adapters")

    def list_domains(self, workspace: Optional[str] = None) -> Iterator[Domain]:
        """Lists the domains of councils, including those that a workspace defines."""
        return self._list("/api/v2/domains", {"workspace": workspace})

    def check_adapter(self, provider: str) -> Adapter:
        """Checks the health of an adapter now. Needs the scope `manage`."""
        return self._send(calls.check_adapter(provider))

    def _wait_for_task(self, task_id: str, deadline: _Deadline) -> Task:
        while True:
            started_at = time.monotonic()
            seconds = min(deadline.remaining(), calls.MAX_WAIT_SECONDS)
            task = self._send(calls.get_task(task_id, seconds), deadline)
            if is_final(task["state"]):
                return task
            # A Bridge that shuts down answers at once.
            if time.monotonic() - started_at < 1:
                deadline.sleep(self._connection.retry_delay_seconds)

    def _send(self, call: Call[T], deadline: Optional[_Deadline] = None) -> T:
        backoff = self._connection.create_backoff()
        deadline = deadline or _Deadline(None)
        while True:
            try:
                return call.read(self._request(call, deadline))
            except BridgeClientError as error:
                if not is_retryable(error, call.is_repeatable):
                    raise
                deadline.sleep(backoff.next_pause(error))

    def _request(self, call: Call[Any], deadline: _Deadline) -> httpx.Response:
        arguments = self._connection.request_arguments(call, self._get_token())
        arguments["timeout"] = deadline.limit(arguments["timeout"])
        try:
            response = self._http.send(self._http.build_request(**arguments), follow_redirects=False)
        except httpx.RequestError as cause:
            raise self._connection.unreachable(cause) from cause
        self._connection.contact.has_answered = True
        if not response.is_success:
            raise read_error(response)
        return response

    @contextlib.contextmanager
    def _open(self, call: Call[Any]) -> Iterator[httpx.Response]:
        """Sends a request. The body of its response is not read yet."""
        arguments = self._connection.request_arguments(call, self._get_token())
        response = self._http.send(self._http.build_request(**arguments), stream=True, follow_redirects=False)
        self._connection.contact.has_answered = True
        try:
            if not response.is_success:
                response.read()
                raise read_error(response)
            yield response
        finally:
            response.close()

    def _list(self, path: str, filter: Optional[Mapping[str, Any]] = None) -> Iterator[Any]:
        cursor: Optional[str] = None
        while True:
            page = self._send(calls.list_page(path, filter, cursor))
            yield from page["data"]
            cursor = page["meta"]["nextCursor"]
            if cursor is None:
                return


class Approvals:
    """Tool calls and budgets that wait or waited for approval."""

    def __init__(self, client: BridgeClient) -> None:
        self._client = client

    def list(self, filter: Optional[ApprovalFilter] = None) -> Iterator[Approval]:
        """Lists approvals, newest first."""
        return self._client._list("/api/v2/approvals", filter)

    def decide(
        self,
        approval_id: str,
        decision: ApprovalDecision,
        reason: Optional[str] = None,
        raise_by_usd: Optional[float] = None,
    ) -> Approval:
        """Approves or rejects a pending tool call or budget. Raises `already_decided` if it was decided before.

        `raise_by_usd` raises the maximum of a budget; without it, each reached maximum grows by that of the dispatch.
        """
        return self._client._send(calls.decide_approval(approval_id, decision, reason, raise_by_usd))


class Budgets:
    """What tasks may spend, and what they have spent."""

    def __init__(self, client: BridgeClient) -> None:
        self._client = client

    def list(self) -> Iterator[Budget]:
        """Lists the budgets of the tenant, in the order of the operator's file."""
        return self._client._list("/api/v2/budgets", None)

    def adjust(self, name: str, spent_usd: float, reason: str) -> Budget:
        """Replaces what is spent in the current period. Needs the scope `manage`."""
        return self._client._send(calls.adjust_budget(name, spent_usd, reason))


class Callbacks:
    """Deliveries of results to the `callbackUrl` of their tasks."""

    def __init__(self, client: BridgeClient) -> None:
        self._client = client

    def list(self, filter: Optional[CallbackFilter] = None) -> Iterator[Callback]:
        """Lists callbacks, newest task first."""
        return self._client._list("/api/v2/callbacks", filter)

    def get(self, task_id: str) -> CallbackDetails:
        """Returns the callback of a task with its last attempts."""
        return self._client._send(calls.get_callback(task_id))

    def redeliver(self, task_id: str) -> Callback:
        """Starts a new round of attempts for a dead callback. Raises `invalid_state` or `already_delivered` for any other."""
        return self._client._send(calls.redeliver_callback(task_id))


class Files:
    """Files that a task left in its workspace."""

    def __init__(self, client: BridgeClient) -> None:
        self._client = client

    def list(self, task_id: str) -> Iterator[TaskFile]:
        """Lists the files, sorted by path."""
        return self._client._list(f"{calls.task_path(task_id)}/files")

    def download(self, task_id: str, path: str) -> bytes:
        """Returns the content of a file, which is in memory completely. Bridge sends at most 1 GiB at once."""
        return self._client._send(calls.download_file(task_id, path))

    def diff(self, task_id: str) -> TaskDiff:
        """
        Compares the git work tree of a task with the commit at its start. Raises `invalid_state`, with the reason, if
        the task did not start in a git work tree.
        """
        return self._client._send(calls.get_diff(task_id))

    def patch(self, task_id: str) -> bytes:
        """
        Returns the commits of an ended task as patches for `git am`, at most 64 MiB; empty if it changed nothing. Only
        for a task with a work tree of a repository.
        """
        return self._client._send(calls.get_patch(task_id))


class Repositories:
    """Repositories of which tasks can have a work tree."""

    def __init__(self, client: BridgeClient) -> None:
        self._client = client

    def list(self) -> Iterator[Repository]:
        """Lists the repositories of the tenant, with the stored branches of tasks."""
        return self._client._list("/api/v2/repositories")


class _Deadline:
    """The time limit of one call."""

    def __init__(self, timeout: Optional[float]) -> None:
        self._timeout = timeout
        self._ends_at = float("inf") if timeout is None else time.monotonic() + timeout

    def remaining(self) -> float:
        """Returns the remaining seconds; raises TimeoutError when there are none."""
        remaining = self._ends_at - time.monotonic()
        if remaining <= 0:
            raise TimeoutError(f"The task did not end within {self._timeout} s. It continues.")
        return remaining

    def limit(self, timeout: httpx.Timeout) -> httpx.Timeout:
        """Returns the time limits of a request that ends before the deadline."""
        remaining = self.remaining()
        limits = {name: value if value is None else min(value, remaining) for name, value in timeout.as_dict().items()}
        return httpx.Timeout(**limits)

    def sleep(self, seconds: float) -> None:
        """Sleeps, but not beyond the deadline."""
        time.sleep(min(seconds, self.remaining()))
        self.remaining()

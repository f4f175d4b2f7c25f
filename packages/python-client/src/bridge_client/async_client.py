"""The asynchronous client."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
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


class AsyncBridgeClient:
    """
    Client of Bridge's API for asyncio, with the methods of `BridgeClient`. To end a call early, cancel the asyncio task
    that awaits it. Close the client with `await aclose()`, or use it in an `async with` statement.
    """

    approvals: AsyncApprovals
    budgets: AsyncBudgets
    callbacks: AsyncCallbacks
    files: AsyncFiles
    repositories: AsyncRepositories

    def __init__(
        self,
        url: str,
        *,
        token: Optional[str] = None,
        get_token: Optional[Callable[[], Union[str, Awaitable[str]]]] = None,
        http_client: Optional[httpx.AsyncClient] = None,
        patience_seconds: float = 120,
        retry_delay_seconds: float = 0.5,
        silence_seconds: float = 31,
        waits_for_start: bool = False,
    ) -> None:
        """The parameters are those of `BridgeClient`. `get_token` can be a coroutine function."""
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
        self._http = http_client or httpx.AsyncClient()
        self._owns_http = http_client is None
        self.approvals = AsyncApprovals(self)
        self.budgets = AsyncBudgets(self)
        self.callbacks = AsyncCallbacks(self)
        self.files = AsyncFiles(self)
        self.repositories = AsyncRepositories(self)

    async def __aenter__(self) -> AsyncBridgeClient:
        return self

    async def __aexit__(
        self,
        _type: Optional[type[BaseException]],
        _error: Optional[BaseException],
        _traceback: Optional[TracebackType],
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections."""
        if self._owns_http:
            await self._http.aclose()

    async def dispatch(self, request: DispatchRequest) -> DispatchedTask:
        """See `BridgeClient.dispatch`."""
        return await self._send(calls.dispatch(request))

    async def check_dispatch(self, request: DispatchRequest) -> DispatchCheck:
        """See `BridgeClient.check_dispatch`."""
        return await self._send(calls.check_dispatch(request))

    async def run(self, request: DispatchRequest, *, timeout: Optional[float] = None) -> Task:
        """See `BridgeClient.run`."""

        async def dispatch_and_wait() -> Task:
            task_id = (await self._send(calls.dispatch(request)))["taskId"]
            return await self._wait_for_task(task_id)

        return await _within(timeout, dispatch_and_wait())

    async def get_task(self, task_id: str, *, wait_seconds: float = 0) -> Task:
        """See `BridgeClient.get_task`."""
        return await self._send(calls.get_task(task_id, wait_seconds))

    async def wait_for_task(self, task_id: str, *, timeout: Optional[float] = None) -> Task:
        """See `BridgeClient.wait_for_task`."""
        return await _within(timeout, self._wait_for_task(task_id))

    async def delete_task(self, task_id: str) -> None:
        """See `BridgeClient.delete_task`."""
        await self._send(calls.delete_task(task_id))

    def list_tasks(self, filter: Optional[TaskFilter] = None) -> AsyncIterator[ListedTask]:
        """See `BridgeClient.list_tasks`."""
        return self._list("/api/v2/tasks", filter)

    async def cancel(self, task_id: str) -> CancelledTask:
        """See `BridgeClient.cancel`."""
        return await self._send(calls.cancel(task_id))

    async def events(
        self,
        source: Union[str, EventFilter, None] = None,
        *,
        after: Optional[str] = None,
        on_gap: Optional[Callable[[Gap], object]] = None,
    ) -> AsyncGenerator[BridgeEvent, None]:
        """See `BridgeClient.events`. If you leave the loop early, `contextlib.aclosing` closes the connection at once."""
        follower = EventFollower(source, after, on_gap)
        backoff = self._connection.create_backoff()
        while not follower.is_over:
            try:
                async with self._open(follower.connect()) as response:
                    follower.accept(response)
                    async for chunk in response.aiter_bytes():
                        backoff.reset()
                        for event in follower.read(chunk):
                            yield event
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
                await asyncio.sleep(backoff.next_pause(failure))

    async def get_identity(self) -> Identity:
        """See `BridgeClient.get_identity`."""
        return await self._send(calls.get_identity())

    def list_adapters(self) -> AsyncIterator[Adapter]:
        """See `BridgeClient.list_adapters`."""
        return self._list("/api/v2/adapters")

    def list_domains(self, workspace: Optional[str] = None) -> AsyncIterator[Domain]:
        """See `BridgeClient.list_domains`."""
        return self._list("/api/v2/domains", {"workspace": workspace})

    async def check_adapter(self, provider: str) -> Adapter:
        """See `BridgeClient.check_adapter`."""
        return await self._send(calls.check_adapter(provider))

    async def _wait_for_task(self, task_id: str) -> Task:
        while True:
            started_at = time.monotonic()
            task = await self._send(calls.get_task(task_id, calls.MAX_WAIT_SECONDS))
            if is_final(task["state"]):
                return task
            # A Bridge that shuts down answers at once.
            if time.monotonic() - started_at < 1:
                await asyncio.sleep(self._connection.retry_delay_seconds)

    async def _send(self, call: Call[T]) -> T:
        backoff = self._connection.create_backoff()
        while True:
            try:
                return call.read(await self._request(call))
            except BridgeClientError as error:
                if not is_retryable(error, call.is_repeatable):
                    raise
                pause = backoff.next_pause(error)
            await asyncio.sleep(pause)

    async def _request(self, call: Call[Any]) -> httpx.Response:
        request = await self._build_request(call)
        try:
            response = await self._http.send(request, follow_redirects=False)
        except httpx.RequestError as cause:
            raise self._connection.unreachable(cause) from cause
        self._connection.contact.has_answered = True
        if not response.is_success:
            raise read_error(response)
        return response

    @contextlib.asynccontextmanager
    async def _open(self, call: Call[Any]) -> AsyncIterator[httpx.Response]:
        """Sends a request. The body of its response is not read yet."""
        request = await self._build_request(call)
        response = await self._http.send(request, stream=True, follow_redirects=False)
        self._connection.contact.has_answered = True
        try:
            if not response.is_success:
                await response.aread()
                raise read_error(response)
            yield response
        finally:
            await response.aclose()

    async def _build_request(self, call: Call[Any]) -> httpx.Request:
        given = self._get_token()
        token = given if isinstance(given, str) else await given
        return self._http.build_request(**self._connection.request_arguments(call, token))

    async def _list(self, path: str, filter: Optional[Mapping[str, Any]] = None) -> AsyncIterator[Any]:
        cursor: Optional[str] = None
        while True:
            page = await self._send(calls.list_page(path, filter, cursor))
            for entry in page["data"]:
                yield entry
            cursor = page["meta"]["nextCursor"]
            if cursor is None:
                return


class AsyncApprovals:
    """Tool calls and budgets that wait or waited for approval."""

    def __init__(self, client: AsyncBridgeClient) -> None:
        self._client = client

    def list(self, filter: Optional[ApprovalFilter] = None) -> AsyncIterator[Approval]:
        """See `Approvals.list`."""
        return self._client._list("/api/v2/approvals", filter)

    async def decide(
        self,
        approval_id: str,
        decision: ApprovalDecision,
        reason: Optional[str] = None,
        raise_by_usd: Optional[float] = None,
    ) -> Approval:
        """See `Approvals.decide`."""
        return await self._client._send(calls.decide_approval(approval_id, decision, reason, raise_by_usd))


class AsyncBudgets:
    """What tasks may spend, and what they have spent."""

    def __init__(self, client: AsyncBridgeClient) -> None:
        self._client = client

    def list(self) -> AsyncIterator[Budget]:
        """See `Budgets.list`."""
        return self._client._list("/api/v2/budgets", None)

    async def adjust(self, name: str, spent_usd: float, reason: str) -> Budget:
        """See `Budgets.adjust`."""
        return await self._client._send(calls.adjust_budget(name, spent_usd, reason))


class AsyncCallbacks:
    """Deliveries of results to the `callbackUrl` of their tasks."""

    def __init__(self, client: AsyncBridgeClient) -> None:
        self._client = client

    def list(self, filter: Optional[CallbackFilter] = None) -> AsyncIterator[Callback]:
        """See `Callbacks.list`."""
        return self._client._list("/api/v2/callbacks", filter)

    async def get(self, task_id: str) -> CallbackDetails:
        """See `Callbacks.get`."""
        return await self._client._send(calls.get_callback(task_id))

    async def redeliver(self, task_id: str) -> Callback:
        """See `Callbacks.redeliver`."""
        return await self._client._send(calls.redeliver_callback(task_id))


class AsyncFiles:
    """Files that a task left in its workspace."""

    def __init__(self, client: AsyncBridgeClient) -> None:
        self._client = client

    def list(self, task_id: str) -> AsyncIterator[TaskFile]:
        """See `Files.list`."""
        return self._client._list(f"{calls.task_path(task_id)}/files")

    async def download(self, task_id: str, path: str) -> bytes:
        """See `Files.download`."""
        return await self._client._send(calls.download_file(task_id, path))

    async def diff(self, task_id: str) -> TaskDiff:
        """See `Files.diff`."""
        return await self._client._send(calls.get_diff(task_id))

    async def patch(self, task_id: str) -> bytes:
        """See `Files.patch`."""
        return await self._client._send(calls.get_patch(task_id))


class AsyncRepositories:
    """Repositories of which tasks can have a work tree."""

    def __init__(self, client: AsyncBridgeClient) -> None:
        self._client = client

    def list(self) -> AsyncIterator[Repository]:
        """See `Repositories.list`."""
        return self._client._list("/api/v2/repositories")


async def _within(timeout: Optional[float], call: Awaitable[T]) -> T:
    try:
        return await asyncio.wait_for(call, timeout)
    except asyncio.TimeoutError:
        # Before Python 3.11, the error of asyncio is another class.
        raise TimeoutError(f"The task did not end within {timeout} s. It continues.") from None

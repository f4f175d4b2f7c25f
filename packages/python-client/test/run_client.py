"""
Executes calls of the Python client for a test: reads one call per line of stdin as JSON, and prints its result as one
line. The first argument is "sync" or "async".
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable
from typing import Any, cast

from bridge_client import AsyncBridgeClient, BridgeClient, BridgeClientError, verify_callback

_output = threading.Lock()


def reply(message: dict[str, Any]) -> None:
    with _output:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def describe(error: Exception) -> dict[str, Any]:
    if isinstance(error, BridgeClientError):
        retry_after = error.retry_after_seconds
        return {
            "code": error.code,
            "message": error.message,
            "status": error.status,
            "requestId": error.request_id,
            "errors": list(error.errors),
            "retryAfterMs": None if retry_after is None else retry_after * 1000,
            "queue": error.queue,
        }
    return {"name": "TimeoutError" if isinstance(error, TimeoutError) else type(error).__name__, "message": str(error)}


def verify(given: dict[str, Any]) -> Any:
    return verify_callback(given["headers"], given["body"].encode(), given["secrets"])


def options_of(message: dict[str, Any]) -> dict[str, Any]:
    given = message["client"]
    return {
        "url": given["url"],
        "token": given["token"],
        "retry_delay_seconds": given["retryDelayMs"] / 1000,
        "patience_seconds": given["patienceMs"] / 1000,
        "silence_seconds": given["silenceMs"] / 1000,
        # Each call has a new client, which has had no answer when Bridge restarts.
        "waits_for_start": True,
    }


def take(message: dict[str, Any], stop_after: Any, event: Any) -> bool:
    """Reports one event; returns whether the loop ends."""
    reply({"number": message["number"], "event": event})
    return bool(event["type"] == stop_after)


SYNC_CALLS: dict[str, Callable[[BridgeClient, dict[str, Any]], Any]] = {
    "dispatch": lambda bridge, given: bridge.dispatch(given["request"]),
    "checkDispatch": lambda bridge, given: bridge.check_dispatch(given["request"]),
    "run": lambda bridge, given: bridge.run(given["request"]),
    "getTask": lambda bridge, given: bridge.get_task(given["taskId"], wait_seconds=given.get("waitSeconds", 0)),
    "waitForTask": lambda bridge, given: bridge.wait_for_task(given["taskId"], timeout=given.get("timeoutSeconds")),
    "deleteTask": lambda bridge, given: bridge.delete_task(given["taskId"]),
    "listTasks": lambda bridge, given: list(bridge.list_tasks(given.get("filter"))),
    "cancel": lambda bridge, given: bridge.cancel(given["taskId"]),
    "getIdentity": lambda bridge, given: bridge.get_identity(),
    "listAdapters": lambda bridge, given: list(bridge.list_adapters()),
    "listDomains": lambda bridge, given: list(bridge.list_domains(given.get("workspace"))),
    "checkAdapter": lambda bridge, given: bridge.check_adapter(given["provider"]),
    "approvals.list": lambda bridge, given: list(bridge.approvals.list(given.get("filter"))),
    "approvals.decide": lambda bridge, given: bridge.approvals.decide(
        given["approvalId"], given["decision"], given.get("reason"), given.get("raiseByUsd")
    ),
    "callbacks.list": lambda bridge, given: list(bridge.callbacks.list(given.get("filter"))),
    "callbacks.get": lambda bridge, given: bridge.callbacks.get(given["taskId"]),
    "callbacks.redeliver": lambda bridge, given: bridge.callbacks.redeliver(given["taskId"]),
    "files.list": lambda bridge, given: list(bridge.files.list(given["taskId"])),
    "files.download": lambda bridge, given: bridge.files.download(given["taskId"], given["path"]).decode(),
    "files.diff": lambda bridge, given: bridge.files.diff(given["taskId"]),
    "files.patch": lambda bridge, given: bridge.files.patch(given["taskId"]).decode(),
    "repositories.list": lambda bridge, given: list(bridge.repositories.list()),
    "verifyCallback": lambda bridge, given: verify(given),
}


def call_sync(message: dict[str, Any]) -> Any:
    given = message["given"]
    with BridgeClient(**options_of(message)) as bridge:
        if message["call"] != "events":
            return SYNC_CALLS[message["call"]](bridge, given)
        gaps: list[Any] = []
        events = []
        on_gap = gaps.append if given.get("toleratesGaps") else None
        for event in bridge.events(given["source"], after=given.get("after"), on_gap=on_gap):
            events.append(event)
            if take(message, given.get("stopAfter"), event):
                break
        return {"events": events, "gaps": gaps}


async def collect(entries: Any) -> list[Any]:
    return [entry async for entry in entries]


ASYNC_CALLS: dict[str, Callable[[AsyncBridgeClient, dict[str, Any]], Any]] = {
    "dispatch": lambda bridge, given: bridge.dispatch(given["request"]),
    "checkDispatch": lambda bridge, given: bridge.check_dispatch(given["request"]),
    "run": lambda bridge, given: bridge.run(given["request"]),
    "getTask": lambda bridge, given: bridge.get_task(given["taskId"], wait_seconds=given.get("waitSeconds", 0)),
    "waitForTask": lambda bridge, given: bridge.wait_for_task(given["taskId"], timeout=given.get("timeoutSeconds")),
    "deleteTask": lambda bridge, given: bridge.delete_task(given["taskId"]),
    "listTasks": lambda bridge, given: collect(bridge.list_tasks(given.get("filter"))),
    "cancel": lambda bridge, given: bridge.cancel(given["taskId"]),
    "getIdentity": lambda bridge, given: bridge.get_identity(),
    "listAdapters": lambda bridge, given: collect(bridge.list_adapters()),
    "listDomains": lambda bridge, given: collect(bridge.list_domains(given.get("workspace"))),
    "checkAdapter": lambda bridge, given: bridge.check_adapter(given["provider"]),
    "approvals.list": lambda bridge, given: collect(bridge.approvals.list(given.get("filter"))),
    "approvals.decide": lambda bridge, given: bridge.approvals.decide(
        given["approvalId"], given["decision"], given.get("reason"), given.get("raiseByUsd")
    ),
    "callbacks.list": lambda bridge, given: collect(bridge.callbacks.list(given.get("filter"))),
    "callbacks.get": lambda bridge, given: bridge.callbacks.get(given["taskId"]),
    "callbacks.redeliver": lambda bridge, given: bridge.callbacks.redeliver(given["taskId"]),
    "files.list": lambda bridge, given: collect(bridge.files.list(given["taskId"])),
    "files.diff": lambda bridge, given: bridge.files.diff(given["taskId"]),
    "repositories.list": lambda bridge, given: collect(bridge.repositories.list()),
}


async def call_async(message: dict[str, Any]) -> Any:
    given = message["given"]
    options = options_of(message)
    token = options.pop("token")

    async def get_token() -> str:
        return cast(str, token)

    async with AsyncBridgeClient(**options, get_token=get_token) as bridge:
        if message["call"] == "verifyCallback":
            return verify(given)
        if message["call"] == "files.download":
            return (await bridge.files.download(given["taskId"], given["path"])).decode()
        if message["call"] == "files.patch":
            return (await bridge.files.patch(given["taskId"])).decode()
        if message["call"] != "events":
            return await ASYNC_CALLS[message["call"]](bridge, given)
        gaps: list[Any] = []
        events = []
        on_gap = gaps.append if given.get("toleratesGaps") else None
        async for event in bridge.events(given["source"], after=given.get("after"), on_gap=on_gap):
            events.append(event)
            if take(message, given.get("stopAfter"), event):
                break
        return {"events": events, "gaps": gaps}


def execute(message: dict[str, Any]) -> None:
    try:
        result = asyncio.run(call_async(message)) if sys.argv[1] == "async" else call_sync(message)
        reply({"number": message["number"], "result": result})
    except Exception as error:
        reply({"number": message["number"], "error": describe(error)})


def main() -> None:
    # Calls overlap, as a stream is read while other calls are made.
    for line in sys.stdin:
        threading.Thread(target=execute, args=[json.loads(line)], daemon=True).start()


main()

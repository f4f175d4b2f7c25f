"""The state of a stream of events that continues across disconnects."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Optional, Union, cast
from urllib.parse import urlencode

import httpx

from .calls import Call, open_stream, task_path
from .errors import BridgeClientError, unexpected_answer
from .events import BridgeEvent, EventFilter, Gap
from .sse import SseParser


class EventFollower:
    """
    Parses the connections of one stream. It continues with the id of the last event, so no event is lost or repeated.
    The stream of a task is over after its terminal event; any other stream is never over.
    """

    def __init__(
        self,
        source: Union[str, EventFilter, None],
        after: Optional[str],
        on_gap: Optional[Callable[[Gap], object]],
    ) -> None:
        self._path = _path_of(source)
        self._is_of_task = isinstance(source, str)
        self._last_id = after
        self._on_gap = on_gap
        self._parser = SseParser()
        self.is_over = False

    def connect(self) -> Call[None]:
        """Returns the request of the next connection."""
        self._parser = SseParser()
        return open_stream(self._path, self._last_id)

    def accept(self, response: httpx.Response) -> None:
        """Checks the status and headers of a connection."""
        # The last id is the terminal event of the task.
        if response.status_code == 204:
            self.is_over = True
            return
        content_type = response.headers.get("content-type", "no content type")
        if not content_type.startswith("text/event-stream"):
            raise unexpected_answer(response, f"expected an event stream, got {content_type}.")

    def read(self, chunk: bytes) -> Iterator[BridgeEvent]:
        """Yields the events that the chunk completes."""
        for message in self._parser.feed(chunk):
            if message.last_event_id is not None:
                self._last_id = message.last_event_id
            if message.data is None:
                continue
            if message.event == "stream.gap":
                self._report_gap(cast(Gap, json.loads(message.data)))
            # Other `stream.` events contain the reason why Bridge ends the stream, and need no action.
            elif not message.event.startswith("stream."):
                event = cast(BridgeEvent, json.loads(message.data))
                # The consumer may stop at the event, so the stream is over before it is yielded.
                self.is_over = self._is_of_task and _is_terminal(event)
                yield event
                if self.is_over:
                    return

    def _report_gap(self, gap: Gap) -> None:
        if self._on_gap is None:
            raise BridgeClientError(
                "stream_gap",
                "Events after `after` have been deleted. Set on_gap to continue with the oldest stored event.",
            )
        self._on_gap(gap)


def _path_of(source: Union[str, EventFilter, None]) -> str:
    if isinstance(source, str):
        return f"{task_path(source)}/events"
    query = {name: value if isinstance(value, str) else ",".join(value) for name, value in _fields_of(source) if value}
    return f"/api/events?{urlencode(query)}" if query else "/api/events"


def _fields_of(source: Optional[EventFilter]) -> Iterator[tuple[str, Any]]:
    yield from cast(Mapping[str, Any], source or {}).items()


def _is_terminal(event: BridgeEvent) -> bool:
    return event["type"] in ("execution.completed", "execution.failed")

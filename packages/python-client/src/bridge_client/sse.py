"""A parser of server-sent events, as the HTML standard defines them."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple, Optional

# Only these end a line. `str.splitlines` would also split at other characters, such as U+2028.
_LINE_END = re.compile("\r\n|\r|\n")


class SseMessage(NamedTuple):
    """A message of a stream. `data` is None for a block that only changes the id."""

    event: str
    data: Optional[str]
    last_event_id: Optional[str]


class SseParser:
    """Parses one stream. It can receive the bytes in chunks of any size. An incomplete last message is dropped."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._is_start = True
        self._ended_with_cr = False
        self._rest = ""
        self._event = ""
        self._data: list[str] = []
        self._id: Optional[str] = None
        self._block_has_id = False

    def feed(self, chunk: bytes) -> list[SseMessage]:
        """Returns the messages that the chunk completes."""
        text = self._decoder.decode(chunk)
        if text == "":
            return []
        if self._is_start:
            text = text.removeprefix("\ufeff")
            self._is_start = False
        if self._ended_with_cr:
            text = text.removeprefix("\n")
        self._ended_with_cr = text.endswith("\r") if text != "" else False
        *lines, self._rest = _LINE_END.split(self._rest + text)
        return [message for message in map(self._take_line, lines) if message is not None]

    def _take_line(self, line: str) -> Optional[SseMessage]:
        if line == "":
            return self._end_block()
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._event = value
        elif field == "id" and "\0" not in value:
            self._id = value
            self._block_has_id = True
        # A line that begins with a colon is a comment. The standard ignores other fields, and `retry` is the business of a browser.
        return None

    def _end_block(self) -> Optional[SseMessage]:
        data = "\n".join(self._data) if self._data else None
        message = SseMessage(self._event or "message", data, self._id)
        is_empty = data is None and not self._block_has_id
        self._event, self._data, self._block_has_id = "", [], False
        return None if is_empty else message

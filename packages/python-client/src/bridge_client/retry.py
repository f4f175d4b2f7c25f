"""Which failures are retried, and when."""

from __future__ import annotations

import random
import time
from typing import Optional

from .errors import BridgeClientError

# Maximum pause, as a multiple of the first one.
_MAX_PAUSE_FACTOR = 20


def is_retryable(error: BridgeClientError, is_repeatable: bool) -> bool:
    """
    Returns whether a retry is useful and safe. `is_repeatable`: processing the request twice has the same effect as
    once.
    """
    return _is_deferred(error) or (is_repeatable and _is_uncertain(error))


def _is_deferred(error: BridgeClientError) -> bool:
    """Bridge rejected the request temporarily. An offline adapter usually needs an operator, so it is not retried."""
    return error.status in (429, 503) and error.code != "adapter_offline"


def _is_uncertain(error: BridgeClientError) -> bool:
    """It is unknown whether Bridge processed the request."""
    return error.code in ("unreachable", "too_slow") or error.status in (502, 504)


class Contact:
    """What a client knows about its address."""

    def __init__(self, has_answered: bool) -> None:
        #: Until then, a failed connection is raised at once, because the address is probably wrong.
        self.has_answered = has_answered


class Backoff:
    """The exponential backoff between the attempts of one call or one stream."""

    def __init__(self, retry_delay_seconds: float, patience_seconds: float, contact: Contact) -> None:
        self._contact = contact
        self._retry_delay_seconds = retry_delay_seconds
        self._patience_seconds = patience_seconds
        self._first_failure_at: Optional[float] = None
        self._attempts = 0

    def next_pause(self, error: BridgeClientError) -> float:
        """Returns the seconds until the next attempt; raises the error when the patience is used up."""
        # A wrong address would otherwise look like a client that hangs.
        if error.never_connected and not self._contact.has_answered:
            raise error
        now = time.monotonic()
        if self._first_failure_at is None:
            self._first_failure_at = now
        factor = min(2.0 ** min(self._attempts, 10), _MAX_PAUSE_FACTOR)
        # Random, so that clients of one Bridge do not all reconnect at the same time.
        own_pause = self._retry_delay_seconds * factor * random.uniform(0.5, 1)
        pause = max(own_pause, error.retry_after_seconds or 0)
        if now - self._first_failure_at + pause > self._patience_seconds:
            raise error
        self._attempts += 1
        return pause

    def reset(self) -> None:
        """Resets the backoff after a success."""
        self._first_failure_at = None
        self._attempts = 0

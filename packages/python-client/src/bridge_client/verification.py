"""Signatures of callbacks and webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Iterable, Sequence
from typing import Any, Optional, Protocol, Union, cast

from .wire import CallbackBody, WebhookBody

# Maximum difference between the clock and the time of the signature.
_TOLERANCE_SECONDS = 300


class RequestHeaders(Protocol):
    """The headers of a request: a dictionary, or the headers of Flask, Django, Starlette or `http.server`."""

    def items(self) -> Iterable[tuple[str, str]]:
        """Returns names and values. The case of the names does not matter."""


def verify_callback(headers: RequestHeaders, body: Union[bytes, str], secrets: Sequence[str]) -> Optional[CallbackBody]:
    """
    Verifies a callback by Standard Webhooks. Returns its body if one of the `whsec_…` secrets signed it within the last
    five minutes, otherwise None. `body` must be the exact bytes of the request. Callbacks are delivered at least once:
    store the `webhook-id` of each processed one.
    """
    return cast(Optional[CallbackBody], _verify(headers, body, secrets))


def verify_webhook(headers: RequestHeaders, body: Union[bytes, str], secrets: Sequence[str]) -> Optional[WebhookBody]:
    """Verifies a webhook as `verify_callback` does. The secrets are those of the webhook in the file of the operator."""
    return cast(Optional[WebhookBody], _verify(headers, body, secrets))


def _verify(headers: RequestHeaders, body: Union[bytes, str], secrets: Sequence[str]) -> Any:
    if isinstance(secrets, str):
        raise TypeError("`secrets` must be a list of secrets.")
    # An unset environment variable may be passed as an empty string.
    keys = [_read_key(secret) for secret in secrets if secret != ""]
    content = body.encode() if isinstance(body, str) else body
    message_id = _read_header(headers, "webhook-id")
    timestamp = _read_header(headers, "webhook-timestamp")
    if message_id is None or timestamp is None or not _is_recent(timestamp):
        return None
    signed = f"{message_id}.{timestamp}.".encode() + content
    given = [_decode(text[len("v1,") :]) for text in _signatures_of(headers)]
    for key in keys:
        expected = hmac.digest(key, signed, hashlib.sha256)
        if any(hmac.compare_digest(signature, expected) for signature in given):
            return json.loads(content)
    return None


def _signatures_of(headers: RequestHeaders) -> list[str]:
    signatures = _read_header(headers, "webhook-signature") or ""
    return [text for text in signatures.split(" ") if text.startswith("v1,")]


def _read_header(headers: RequestHeaders, name: str) -> Optional[str]:
    """Returns the header; None if it is absent or occurs more than once."""
    values = [value for key, value in headers.items() if key.lower() == name]
    return values[0] if len(values) == 1 else None


def _is_recent(timestamp: str) -> bool:
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        return False
    return abs(time.time() - int(timestamp)) <= _TOLERANCE_SECONDS


def _read_key(secret: str) -> bytes:
    key = _decode(secret[len("whsec_") :]) if secret.startswith("whsec_") else b""
    if key == b"":
        raise ValueError("A callback secret must be whsec_ followed by base64.")
    return key


def _decode(text: str) -> bytes:
    """Returns the bytes; none if the text is not base64."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""

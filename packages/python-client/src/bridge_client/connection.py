"""How a call becomes an HTTP request, and a failure of the transport an error of the client."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from .calls import Call
from .errors import BridgeClientError
from .retry import Backoff, Contact


@dataclass(frozen=True)
class Connection:
    """The address and the limits of a client."""

    #: Ends with a slash.
    base_url: str
    patience_seconds: float
    retry_delay_seconds: float
    silence_seconds: float
    contact: Contact

    def create_backoff(self) -> Backoff:
        """Creates the backoff of one call or one stream."""
        return Backoff(self.retry_delay_seconds, self.patience_seconds, self.contact)

    def request_arguments(self, call: Call[Any], token: str) -> dict[str, Any]:
        """Returns the arguments of `build_request` of httpx."""
        path = call.path.partition("?")[0]
        # httpx resolves these names, so the request would go to another path.
        if any(part in (".", "..") for part in path.split("/")):
            detail = "An id or a path must not be . or .., or contain one of them between slashes."
            raise BridgeClientError("not_found", detail)
        headers = {**call.headers, "authorization": f"Bearer {_check_token(token)}"}
        if call.body is not None:
            headers["content-type"] = "application/json"
        return {
            "method": call.method,
            "url": self.base_url + call.path[1:],
            "headers": headers,
            "content": None if call.body is None else json.dumps(call.body, allow_nan=False).encode(),
            "timeout": httpx.Timeout(self.silence_seconds, read=self.silence_seconds + call.wait_seconds),
        }

    def unreachable(self, cause: httpx.RequestError) -> BridgeClientError:
        """Creates the error for a request without a response, or for a response that broke off."""
        is_silent = isinstance(cause, httpx.ReadTimeout)
        reason = "no data received in time" if is_silent else str(cause) or type(cause).__name__
        error = BridgeClientError("unreachable", f"Cannot reach Bridge at {self.base_url}: {reason}")
        error.never_connected = isinstance(cause, (httpx.ConnectError, httpx.ConnectTimeout))
        return error


def create_connection(url: str, waits_for_start: bool, **limits: float) -> Connection:
    """Checks the URL and the limits. Raises a ValueError that names the invalid one."""
    parts = urlsplit(url)
    is_plain = not ("@" in parts.netloc or parts.query or parts.fragment)
    # `port` raises a ValueError if it is invalid.
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0 or not is_plain:
        raise ValueError("`url` must be an http or https URL without credentials, query or fragment.")
    for name, value in limits.items():
        if not value >= 0:
            raise ValueError(f"`{name}` must be a number of seconds, 0 or greater; got {value}.")
    return Connection(url.rstrip("/") + "/", contact=Contact(waits_for_start), **limits)


def _check_token(token: str) -> str:
    """Returns the token without surrounding spaces. The error must not contain the token."""
    token = token.strip()
    if re.fullmatch(r"[\x20-\x7e]*", token) is None:
        raise ValueError("The token contains characters that are not allowed in a header.")
    return token

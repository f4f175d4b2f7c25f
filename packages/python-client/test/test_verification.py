"""Tests of the signatures of callbacks. The scenario of the repository verifies callbacks of a real Bridge."""

import base64
import hashlib
import hmac
import time
import unittest
from email.message import Message
from typing import Any, Optional

from bridge_client import verify_callback, verify_webhook

KEY = b"a secret of twenty-four by"
SECRET = "whsec_" + base64.b64encode(KEY).decode()
BODY = '{"taskId":"t","output":"Grüße"}'.encode()


def signed(body: bytes = BODY, age: int = 0, **changed: Optional[str]) -> dict[str, str]:
    timestamp = str(int(time.time()) - age)
    digest = hmac.new(KEY, b"msg_1." + timestamp.encode() + b"." + body, hashlib.sha256).digest()
    headers: dict[str, Optional[str]] = {
        "webhook-id": "msg_1",
        "webhook-timestamp": timestamp,
        "webhook-signature": "v1," + base64.b64encode(digest).decode(),
        **{name.replace("_", "-"): value for name, value in changed.items()},
    }
    return {name: value for name, value in headers.items() if value is not None}


class VerificationTest(unittest.TestCase):
    def test_returns_the_body_of_a_signed_callback(self) -> None:
        expected: Any = {"taskId": "t", "output": "Grüße"}
        self.assertEqual(verify_callback(signed(), BODY, [SECRET]), expected)
        self.assertEqual(verify_callback(signed(), BODY.decode(), [SECRET]), expected)
        self.assertEqual(verify_webhook(signed(), BODY, [SECRET]), expected)

    def test_accepts_the_headers_of_any_library(self) -> None:
        upper = {name.upper(): value for name, value in signed().items()}
        message = Message()
        for name, value in signed().items():
            message[name.title()] = value
        self.assertIsNotNone(verify_callback(upper, BODY, [SECRET]))
        self.assertIsNotNone(verify_callback(message, BODY, [SECRET]))

    def test_rejects_a_header_that_occurs_twice(self) -> None:
        message = Message()
        for name, value in [*signed().items(), ("Webhook-Id", "msg_2")]:
            message[name] = value
        self.assertIsNone(verify_callback(message, BODY, [SECRET]))

    def test_accepts_one_of_several_signatures(self) -> None:
        both = "v1,AAAA v1a,BBBB " + signed()["webhook-signature"]
        self.assertIsNotNone(verify_callback(signed(webhook_signature=both), BODY, [SECRET]))

    def test_rejects_a_callback_that_is_not_signed_or_was_changed(self) -> None:
        signature = signed()["webhook-signature"]
        for headers, body in [
            (signed(), BODY + b" "),
            (signed(webhook_id="msg_2"), BODY),
            (signed(webhook_id=None), BODY),
            (signed(webhook_timestamp=None), BODY),
            (signed(webhook_signature=None), BODY),
            (signed(webhook_signature=""), BODY),
            (signed(webhook_signature=signature.replace("v1,", "v2,")), BODY),
            (signed(webhook_signature=signature.replace("v1,", "")), BODY),
            (signed(webhook_signature="v1,"), BODY),
            (signed(webhook_signature="v1,ÄÖ"), BODY),
            (signed(webhook_signature=signature[:-4]), BODY),
        ]:
            self.assertIsNone(verify_callback(headers, body, [SECRET]), headers)
        self.assertIsNone(verify_callback({}, b"", [SECRET]))

    def test_rejects_a_callback_that_is_too_old_or_from_the_future(self) -> None:
        for age, is_valid in [(290, True), (-290, True), (310, False), (-310, False)]:
            self.assertEqual(verify_callback(signed(age=age), BODY, [SECRET]) is not None, is_valid, age)
        for timestamp in ["NaN", "", "-1", "1e9", "٣", "9" * 400]:
            self.assertIsNone(verify_callback(signed(webhook_timestamp=timestamp), BODY, [SECRET]), timestamp)

    def test_raises_for_an_invalid_secret_even_if_the_callback_is_not_signed(self) -> None:
        for secret in ["plain", "whsec_", "whsec_ä", "whsec_*"]:
            with self.assertRaisesRegex(ValueError, "must be whsec_ followed by base64"):
                verify_callback({}, BODY, [secret])
        with self.assertRaisesRegex(TypeError, "must be a list"):
            verify_callback(signed(), BODY, SECRET)


if __name__ == "__main__":
    unittest.main()

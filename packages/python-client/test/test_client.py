"""Tests of the clients that need no server. The scenario of the repository runs both against a real Bridge."""

import asyncio
import pickle
import unittest
from typing import Any

import httpx

from bridge_client import AsyncBridgeClient, BridgeClient, BridgeClientError


def respond(_request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json={"taskId": "t", "state": "running"})


class ClientTest(unittest.TestCase):
    def test_rejects_an_invalid_url_and_invalid_limits(self) -> None:
        for url in ["", "127.0.0.1:8787", "ftp://host", "http://user:pass@host", "http://host/?a=1", "http://host/#a", "http://host:99999"]:
            with self.assertRaises(ValueError, msg=url):
                BridgeClient(url, token="secret")
        with self.assertRaisesRegex(ValueError, "`silence_seconds` must be"):
            BridgeClient("http://host", token="secret", silence_seconds=-1)
        with self.assertRaisesRegex(ValueError, "either `token` or `get_token`"):
            BridgeClient("http://host")
        with self.assertRaisesRegex(ValueError, "either `token` or `get_token`"):
            AsyncBridgeClient("http://host", token="secret", get_token=lambda: "secret")

    def test_keeps_the_path_of_a_proxy_and_gets_a_token_before_every_request(self) -> None:
        requests: list[httpx.Request] = []

        def record(request: httpx.Request) -> httpx.Response:
            requests.append(request)
            return respond(request)

        tokens = iter(["one", "two\n"])
        with httpx.Client(transport=httpx.MockTransport(record)) as http_client:
            bridge = BridgeClient("https://host/bridge", get_token=lambda: next(tokens), http_client=http_client)
            bridge.get_task("t")
            bridge.get_task("t", wait_seconds=1.2)
            bridge.close()
            self.assertFalse(http_client.is_closed)
        self.assertEqual([str(request.url) for request in requests], ["https://host/bridge/api/v2/tasks/t"] * 2)
        self.assertEqual([request.headers["authorization"] for request in requests], ["Bearer one", "Bearer two"])
        self.assertEqual(requests[1].headers["prefer"], "wait=2")

    def test_lists_repositories_and_returns_the_exact_bytes_of_a_patch(self) -> None:
        patch = b"From 91bd04\nna\xefve\r\n\0"
        repository = {"name": "web", "defaultRef": "main", "push": False, "lastFetchAt": None, "branches": []}

        def answer(request: httpx.Request) -> httpx.Response:
            if request.url.path == "/api/v2/repositories":
                return httpx.Response(200, json={"data": [repository], "meta": {"nextCursor": None}})
            self.assertEqual(request.url.raw_path, b"/api/v2/tasks/fix%2F1/patch")
            return httpx.Response(200, content=patch)

        async def read_async() -> Any:
            async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http_client:
                bridge = AsyncBridgeClient("http://host", token="secret", http_client=http_client)
                return [entry async for entry in bridge.repositories.list()], await bridge.files.patch("fix/1")

        with httpx.Client(transport=httpx.MockTransport(answer)) as http_client:
            bridge = BridgeClient("http://host", token="secret", http_client=http_client)
            self.assertEqual((list(bridge.repositories.list()), bridge.files.patch("fix/1")), ([repository], patch))
        self.assertEqual(asyncio.run(read_async()), ([repository], patch))

    def test_fails_at_once_at_an_address_that_has_never_answered_and_retries_once_it_has(self) -> None:
        answers: list[bool] = []

        def refuse(request: httpx.Request) -> httpx.Response:
            answers.append(True)
            if len(answers) == 2 or len(answers) > 4:
                return respond(request)
            raise httpx.ConnectError("Connection refused", request=request)

        with httpx.Client(transport=httpx.MockTransport(refuse)) as http_client:
            bridge = BridgeClient("http://host", token="secret", http_client=http_client, retry_delay_seconds=0.001)
            with self.assertRaisesRegex(BridgeClientError, "Connection refused"):
                bridge.get_task("t")
            self.assertEqual(len(answers), 1)
            bridge.get_task("t")
            bridge.get_task("t")
            self.assertEqual(len(answers), 5)
            answers[:] = [True, True]
            patient = BridgeClient(
                "http://host", token="secret", http_client=http_client, retry_delay_seconds=0.001, waits_for_start=True
            )
            patient.get_task("t")
            self.assertEqual(len(answers), 5)

    def test_raises_timeout_error_when_the_time_to_wait_is_up(self) -> None:
        with httpx.Client(transport=httpx.MockTransport(respond)) as http_client:
            bridge = BridgeClient("http://host", token="secret", http_client=http_client, retry_delay_seconds=0.01)
            with self.assertRaisesRegex(TimeoutError, "did not end within 0.05 s"):
                bridge.wait_for_task("t", timeout=0.05)

        async def wait() -> Any:
            async with httpx.AsyncClient(transport=httpx.MockTransport(respond)) as http_client:
                bridge = AsyncBridgeClient("http://host", token="secret", http_client=http_client, retry_delay_seconds=0.01)
                return await bridge.run({"agentId": "a"}, timeout=0.05)

        with self.assertRaisesRegex(TimeoutError, "did not end within 0.05 s"):
            asyncio.run(wait())

    def test_sends_a_token_only_to_bridge(self) -> None:
        def redirect(request: httpx.Request) -> httpx.Response:
            self.assertEqual(request.url.host, "host")
            return httpx.Response(302, headers={"location": "http://elsewhere/"})

        with httpx.Client(transport=httpx.MockTransport(redirect), follow_redirects=True) as http_client:
            with self.assertRaises(BridgeClientError) as caught:
                BridgeClient("http://host", token="secret", http_client=http_client).get_task("t")
        self.assertEqual((caught.exception.code, caught.exception.status), ("unexpected_answer", 302))

    def test_an_error_has_the_fields_of_the_problem_document_and_can_be_pickled(self) -> None:
        problem = {
            "type": "urn:bridge:error:queue_full",
            "title": "Queue full",
            "status": 503,
            "detail": "The queue is full.",
            "code": "queue_full",
            "requestId": "request-1",
            "errors": [{"path": "agentId", "message": "is busy"}],
            "queue": "tenant",
        }
        transport = httpx.MockTransport(lambda _: httpx.Response(503, json=problem, headers={"retry-after": "7"}))
        with httpx.Client(transport=transport) as http_client:
            bridge = BridgeClient("http://host", token="secret", http_client=http_client, patience_seconds=0)
            with self.assertRaises(BridgeClientError) as caught:
                bridge.get_task("t")
        for error in (caught.exception, pickle.loads(pickle.dumps(caught.exception))):
            self.assertEqual(str(error), "The queue is full.")
            self.assertEqual((error.code, error.status, error.request_id, error.queue), ("queue_full", 503, "request-1", "tenant"))
            self.assertEqual(error.errors, ({"path": "agentId", "message": "is busy"},))
            self.assertEqual(error.retry_after_seconds, 7)
            self.assertEqual(error.problem, problem)


if __name__ == "__main__":
    unittest.main()

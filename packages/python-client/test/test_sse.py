"""Tests of the parser of server-sent events."""

import unittest

from bridge_client.sse import SseMessage, SseParser


def parse(*chunks: bytes) -> list[SseMessage]:
    parser = SseParser()
    return [message for chunk in chunks for message in parser.feed(chunk)]


class SseParserTest(unittest.TestCase):
    def test_parses_the_examples_of_the_standard(self) -> None:
        self.assertEqual(
            parse(b"data: YHOO\ndata: +2\ndata: 10\n\n"),
            [SseMessage("message", "YHOO\n+2\n10", None)],
        )
        self.assertEqual(
            parse(b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n"),
            [
                SseMessage("message", "first event", "1"),
                SseMessage("message", "second event", ""),
                SseMessage("message", " third event", ""),
            ],
        )
        self.assertEqual(
            parse(b"data\n\ndata\ndata\n\ndata:"),
            [SseMessage("message", "", None), SseMessage("message", "\n", None)],
        )

    def test_accepts_every_end_of_a_line_and_a_byte_order_mark(self) -> None:
        expected = [SseMessage("a", "1\n2", "x"), SseMessage("message", "3", "x")]
        for end in ("\n", "\r", "\r\n"):
            text = f"\ufeffevent: a{end}data: 1{end}data: 2{end}id: x{end}{end}data: 3{end}{end}"
            self.assertEqual(parse(text.encode()), expected)

    def test_does_not_depend_on_the_size_of_the_chunks(self) -> None:
        text = "\ufeff: note\r\nid: e-1\r\rdata: Grüße 世界 😀 \u2028 \x0b\r\nevent: b\n\nid: e-2\n\nretry: 5\ndata: end\r\n\r\n"
        content = text.encode()
        expected = [
            SseMessage("message", None, "e-1"),
            SseMessage("b", "Grüße 世界 😀 \u2028 \x0b", "e-1"),
            SseMessage("message", None, "e-2"),
            SseMessage("message", "end", "e-2"),
        ]
        self.assertEqual(parse(content), expected)
        for size in range(1, len(content)):
            chunks = [content[start : start + size] for start in range(0, len(content), size)]
            self.assertEqual(parse(*chunks), expected, size)

    def test_ignores_an_id_with_a_null_character_and_drops_an_incomplete_message(self) -> None:
        self.assertEqual(parse(b"id: a\0b\ndata: 1\n\nid: c\ndata: 2\n"), [SseMessage("message", "1", None)])

    def test_an_event_name_does_not_outlive_its_block(self) -> None:
        self.assertEqual(parse(b"event: a\n\ndata: 1\n\n"), [SseMessage("message", "1", None)])

    def test_replaces_invalid_utf_8(self) -> None:
        self.assertEqual(parse(b"data: a\xffb\n\n"), [SseMessage("message", "a\ufffdb", None)])


if __name__ == "__main__":
    unittest.main()

import { expect, test } from "vitest";
import { acceptsEventStream } from "../../../src/http/streams/accepts-event-stream.ts";

test.each([
  [undefined, true],
  ["", true],
  ["*/*", true],
  ["text/*", true],
  ["text/event-stream", true],
  ["Text/Event-Stream", true],
  ["application/json, text/event-stream;q=0.1", true],
  ["text/html;level=1;q=0.5,*/*;q=0.1", true],
  ["application/json", false],
  ["text/html", false],
  ["text/event-stream;q=0", false],
  ["*/*, text/event-stream; q=0.0", false],
  ["text/*;q=0, text/event-stream", true],
  ["*/*;q=0", false],
])("the Accept header %s allows an event stream: %s", (accept, accepted) => {
  expect(acceptsEventStream(accept)).toBe(accepted);
});

import { expect, test } from "vitest";
import { formatEventId, parseEventId } from "../../src/events/event-id.ts";

test.each([
  ["0a1b2c3d4e-1", { epoch: "0a1b2c3d4e", number: 1 }],
  ["e-0", { epoch: "e", number: 0 }],
  [`e-${Number.MAX_SAFE_INTEGER}`, { epoch: "e", number: Number.MAX_SAFE_INTEGER }],
])("the event id %s is parsed and formatted", (text, id) => {
  expect(parseEventId(text)).toEqual(id);
  expect(formatEventId(id)).toBe(text);
});

test.each([
  "",
  "-",
  "e-",
  "-1",
  "e",
  "1",
  "e-1 ",
  " e-1",
  "e--1",
  "e-01",
  "e-1.5",
  "e-1e3",
  "e-1-2",
  "e\n-1",
  "e-1\n",
  "é-1",
  `e-${2 ** 53}`,
  `e-${"9".repeat(400)}`,
])("the event id %j is malformed", (text) => {
  expect(parseEventId(text)).toBeNull();
});

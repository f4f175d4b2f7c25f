import fc from "fast-check";
import { expect, test } from "vitest";
import { findRequestId } from "../../src/websocket/find-request-id.ts";

const find = (text: string) => findRequestId(Buffer.from(text));

test.each([
  ['{"requestId":"mine"}', "mine"],
  [' { "op" : "a" , "requestId" : "m\\u0069ne\\n" }', "mine\n"],
  ['{"payload":{"requestId":"inner"},"requestId":"mine"}', "mine"],
  ['{"op":"requestId","a":"not this"}', null],
  ['{"a":"\\"requestId\\":\\"not this\\""}', null],
  ['{"requestId":["not this"]}', null],
  ['{"requestId":7,"a":"not this"}', null],
  ['{"requestId":""}', null],
  ['{"requestId":"not ended', null],
  ['["requestId","not this"]', null],
  ["", null],
])("%s", (text, expected) => {
  expect(find(text)).toBe(expected);
});

test("findRequestId finds what JSON.parse returns, for any envelope", () => {
  const frame = fc.dictionary(fc.constantFrom("op", "requestId", "payload", "meta"), fc.jsonValue());
  fc.assert(
    fc.property(frame, (envelope) => {
      const { requestId } = envelope;
      const expected = typeof requestId === "string" && requestId !== "" ? requestId : null;
      expect(find(JSON.stringify(envelope, null, 1))).toBe(expected);
    }),
    { numRuns: 300 },
  );
});

import { expect, test } from "vitest";
import { createJsonCounter } from "../../src/contract/json-counter.ts";

/** Counts the values of a text that arrives in chunks of this size. */
function count(text: string, { byEvent = false, chunkBytes = 3 } = {}): number {
  const counter = createJsonCounter({ byEvent });
  const bytes = Buffer.from(text);
  let largest = 0;
  for (let start = 0; start < bytes.length; start += chunkBytes)
    largest = Math.max(largest, counter.add(bytes.subarray(start, start + chunkBytes)));
  return largest;
}

test.each([
  ["an empty object", "{}", 1],
  ["members and elements", '{"a":1,"b":[2,3,{}]}', 6],
  ["punctuation in strings", '["[,{","\\",[","\\\\",","]', 4],
  ["strings of other characters than ASCII", '["ü,","😀,"]', 2],
])("countJsonValues counts %s", (_, text, values) => {
  for (const chunkBytes of [1, 3, 100]) expect(count(text, { chunkBytes })).toBe(values);
});

test.each(["\n", "\r", "\r\n"])("a stray quote hides no values after the line break %j", (lineBreak) => {
  expect(count(`: a "comment${lineBreak}data: [1,2,3]`)).toBe(3);
});

test.each(["\n", "\r", "\r\n"])("the events of a stream with the line break %j count separately", (lineBreak) => {
  const event = `data: [1,${lineBreak}data: 2]${lineBreak}${lineBreak}`;
  expect(count(event.repeat(5), { byEvent: true })).toBe(2);
  expect(count(event.repeat(5))).toBe(10);
});

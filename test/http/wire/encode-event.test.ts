import { createParser, type EventSourceMessage } from "eventsource-parser";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { eventEnvelopeSchema, eventTypes } from "#contract";
import { encodeEventData } from "../../../src/events/encode-event-data.ts";
import { createEventEncoder, encodeSseFrame } from "../../../src/http/wire/encode-event.ts";
import type { StoredEvent } from "../../../src/store/events/interface.ts";
import { anyCharacter } from "../../support/any-character.ts";

/** Parses the bytes like a client, split at random positions. */
function parse(bytes: Buffer, cut = bytes.length): EventSourceMessage[] {
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => void messages.push(message) });
  const decoder = new TextDecoder();
  parser.feed(decoder.decode(bytes.subarray(0, cut), { stream: true }));
  parser.feed(decoder.decode(bytes.subarray(cut)));
  return messages;
}

const hostile = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.constantFrom(
    "\n\nevent: execution.completed\ndata: {}\n\n",
    "\r",
    "\r\n\r\nid: 9\r\n",
    "\u0000",
    "\u2028\u2029\u0085",
    "\ufeff",
    ": ",
    "data:",
    "\ud800",
    "</script>",
  ),
);

const storedEvent: fc.Arbitrary<StoredEvent> = fc
  .record({
    number: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    task: fc.record({
      seq: fc.nat(),
      tenant: hostile,
      taskId: hostile,
      parentTaskId: fc.option(hostile),
      agentId: hostile,
      provider: hostile,
    }),
    type: fc.constantFrom(...eventTypes),
    at: fc.nat(4_000_000_000_000),
    data: fc.dictionary(hostile, fc.oneof(hostile, fc.jsonValue()), { maxKeys: 4 }),
  })
  .map((event) => ({ ...event, data: encodeEventData(event.data) }));

test("a client parses any event as exactly one equal event, however its bytes are split", () => {
  const encode = createEventEncoder((number) => `epoch-${number}`);
  fc.assert(
    fc.property(storedEvent, fc.nat(), (event, place) => {
      const bytes = encode([event]);
      const messages = parse(bytes, place % (bytes.length + 1));
      expect(messages).toHaveLength(1);
      const { id, event: name, data } = messages[0] as EventSourceMessage;
      expect([id, name]).toEqual([`epoch-${event.number}`, event.type]);
      const envelope = JSON.parse(data);
      const { taskId, parentTaskId, agentId, provider } = event.task;
      expect(envelope).toEqual({
        id,
        type: event.type,
        taskId,
        ...(parentTaskId !== null && { parentTaskId }),
        agentId,
        provider,
        timestamp: new Date(event.at).toISOString(),
        data: JSON.parse(event.data),
      });
      expect(eventEnvelopeSchema.safeParse(envelope).success).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test("any frame is rejected or parsed as an equal frame", () => {
  const line = fc.oneof(hostile, fc.string());
  fc.assert(
    fc.property(line, line, fc.string({ unit: anyCharacter }), (id, event, text) => {
      const data = JSON.stringify(text);
      let frame: string;
      try {
        frame = encodeSseFrame({ id, event, data });
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError);
        expect([id, event].some((field) => field === "" || !field.isWellFormed() || /\p{Cc}/u.test(field))).toBe(true);
        return;
      }
      expect(parse(Buffer.from(frame))).toEqual([{ id, event, data }]);
    }),
    { numRuns: 1_000 },
  );
});

describe("frames that could forge an event", () => {
  const controls = [...Array.from({ length: 32 }, (_, code) => code), ...Array.from({ length: 33 }, (_, index) => 127 + index)];
  test.each(controls.map((code) => String.fromCharCode(code)))("the control character %j is rejected", (control) => {
    expect(() => encodeSseFrame({ id: `1${control}2`, event: "e", data: "{}" })).toThrow(TypeError);
    expect(() => encodeSseFrame({ id: "1", event: `e${control}`, data: "{}" })).toThrow(TypeError);
  });
  test.each(["{}\n", "\r{}", "{\r\n}"])("the data %j is rejected", (data) => {
    expect(() => encodeSseFrame({ event: "e", data })).toThrow(TypeError);
  });
});

test("a control event has no id, so that it does not move a client's cursor", () => {
  expect(encodeSseFrame({ event: "stream.gap", data: '{"oldestId":"e-5"}' })).toBe('event: stream.gap\ndata: {"oldestId":"e-5"}\n\n');
});

test("several events are encoded as their frames, one after the other", () => {
  const encode = createEventEncoder((number) => `epoch-${number}`);
  const events = fc.sample(storedEvent, 3);
  expect(encode(events)).toEqual(Buffer.concat(events.map((event) => encode([event]))));
});

test.each(["", "a\nb", "a\u0085"])(
  "an encoder rejects the id and the type %j of a stored event, as well as data with line breaks",
  (line) => {
    const [event] = fc.sample(storedEvent, 1) as [StoredEvent];
    expect(() => createEventEncoder((number) => (line === "" ? "" : `${line}-${number}`))).toThrow(TypeError);
    const encode = createEventEncoder((number) => `epoch-${number}`);
    for (let time = 0; time < 2; time += 1) expect(() => encode([{ ...event, type: line as StoredEvent["type"] }])).toThrow(TypeError);
    expect(() => encode([event, { ...event, data: '{}\n\ndata: "forged"' }])).toThrow(TypeError);
    expect(() => encode([{ ...event, data: "{}\r" }])).toThrow(TypeError);
  },
);

import { describe, expect, test, vi } from "vitest";
import { BridgeError } from "../../src/errors.ts";
import { MAX_JSON_VALUES } from "../../src/requests/check-json.ts";
import { parseEnvelope } from "../../src/websocket/parse-envelope.ts";

const read = (text: string, isBinary = false) => parseEnvelope({ bytes: Buffer.from(text), isBinary }, async () => {});
const UUID = /^[0-9a-f-]{36}$/;

describe("invalid frames", () => {
  test.each([
    ["", "empty-envelope"],
    [" \t\r\n", "empty-envelope"],
    ["nonsense", "malformed-envelope"],
    ["{", "malformed-envelope"],
    ['{"op":"a.b"} more', "malformed-envelope"],
    ["null", "malformed-envelope"],
    ["1", "malformed-envelope"],
    ['"agent.run"', "malformed-envelope"],
    ["[]", "malformed-envelope"],
    ['[{"op":"agent.run","payload":{}}]', "malformed-envelope"],
    ['{"requestId":1,"op":"a.b"}', "malformed-envelope"],
    ['{"requestId":null,"op":"a.b"}', "malformed-envelope"],
    ['{"requestId":{"a":1},"op":"a.b"}', "malformed-envelope"],
    ["{}", "missing-op"],
    ['{"op":""}', "missing-op"],
    ['{"op":null}', "missing-op"],
    ['{"payload":{}}', "missing-op"],
    ['{"__proto__":{"op":"agent.run"}}', "missing-op"],
    ['{"op":1}', "invalid-request"],
    ['{"op":["agent.run"]}', "invalid-request"],
    ['{"op":"a.b","payload":[]}', "invalid-request"],
    ['{"op":"a.b","payload":"text"}', "invalid-request"],
    ['{"op":"a.b","payload":7}', "invalid-request"],
  ])("the frame %j has the fault %s", async (text, fault) => {
    expect(await read(text)).toMatchObject({ fault, requestId: expect.stringMatching(UUID) });
  });

  test("a binary frame is malformed, whatever it contains", async () => {
    for (const text of ["", "{}", '{"requestId":"r","op":"workspace.list"}'])
      expect((await read(text, true)).fault).toBe("malformed-envelope");
  });

  test("a frame with too many JSON values is rejected without parsing it", async () => {
    const { fault } = await read(`{"requestId":"mine","op":"a.b","payload":{"a":[${"0,".repeat(MAX_JSON_VALUES)}0]}}`);
    expect(fault).toMatchObject({ code: "too_large", message: expect.stringContaining(String(MAX_JSON_VALUES)) });
  });

  test("a number that would change and a repeated field are reported with the requestId and their paths in the payload", async () => {
    const frame = (payload: string) => read(`{"requestId":"mine","op":"a.b","payload":${payload}}`);
    expect(await frame('{"metadata":{"order":653247040368672769}}')).toMatchObject({
      requestId: "mine",
      fault: { code: "invalid_request", errors: [{ path: "metadata.order" }] },
    });
    expect(await frame('{"a":1,"a":2}')).toMatchObject({ requestId: "mine", fault: { errors: [{ path: "a" }] } });
    expect(await read('{"op":"a","op":"b"}')).toMatchObject({
      requestId: expect.stringMatching(UUID),
      fault: { errors: [{ path: "op" }] },
    });
  });

  test("a frame for whose values no memory is left is rejected without parsing it, with its requestId", async () => {
    const text = `{"op":"a.b","payload":{"requestId":"inner","list":[${"{},".repeat(40_000)}{}]},"requestId":"mine"}`;
    const parse = vi.spyOn(JSON, "parse");
    const overloaded = new BridgeError("overloaded", "No memory is left.");
    const refused = await parseEnvelope({ bytes: Buffer.from(text), isBinary: false }, () => Promise.reject(overloaded));
    const lengths = parse.mock.calls.map(([parsed]) => parsed.length);
    parse.mockRestore();
    expect(refused).toMatchObject({ requestId: "mine", fault: { code: "overloaded" } });
    expect(Math.max(...lengths)).toBeLessThan(100);
  });

  test("the fault keeps the requestId if there is one", async () => {
    expect(await read('{"requestId":"mine"}')).toMatchObject({ requestId: "mine", fault: "missing-op" });
    expect(await read('{"requestId":"mine","op":3}')).toMatchObject({ requestId: "mine", fault: "invalid-request" });
  });
});

describe("meta", () => {
  test.each(["null", "5", '"text"', "[1,2]", "false"])("meta that is not an object (%s) is ignored", async (meta) => {
    expect(await read(`{"op":"a.b","meta":${meta}}`)).toMatchObject({ op: "a.b", attributes: {} });
  });

  test("values of meta are converted to text", async () => {
    const meta = '{"a":"x","b":1,"c":true,"d":null,"e":[1,[2]],"f":{"g":{}},"__proto__":{"h":1}}';
    const { attributes } = await read(`{"op":"a.b","meta":${meta}}`);
    expect(Object.entries(attributes)).toEqual([
      ["a", "x"],
      ["b", "1"],
      ["c", "true"],
      ["d", "null"],
      ["e", "[1,[2]]"],
      ["f", '{"g":{}}'],
      ["__proto__", '{"h":1}'],
    ]);
    expect(({} as Record<string, unknown>)["h"]).toBeUndefined();
  });

  test("deeply nested values of meta are converted to text", async () => {
    const { attributes, op } = await read(`{"op":"a.b","meta":{"deep":${"[".repeat(40_000)}${"]".repeat(40_000)}}}`);
    expect([op, typeof attributes["deep"]]).toEqual(["a.b", "string"]);
  });

  test("the size of meta is limited", async () => {
    const meta = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`${index}${"k".repeat(1000)}`, "v".repeat(1000)]));
    expect(JSON.stringify((await read(JSON.stringify({ op: "a.b", meta }))).attributes).length).toBeLessThan(20_000);
  });
});

test("unknown fields of the envelope are ignored", async () => {
  expect(await read('{"requestId":"r","op":"a.b","payload":{"c":1},"version":2}')).toEqual({
    requestId: "r",
    op: "a.b",
    payload: { c: 1 },
    attributes: {},
  });
});

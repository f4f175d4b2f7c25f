import { expect, onTestFinished, test } from "vitest";
import { createSchemaChecker } from "../../src/requests/schema-checker.ts";

/** A pattern whose check takes the full time limit of one second. */
const endless = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } };
const endlessResult = { outputs: { a: `${"a".repeat(40)}b` } };
const small = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };

function startChecker(options?: Parameters<typeof createSchemaChecker>[0]) {
  const checker = createSchemaChecker(options);
  onTestFinished(() => checker.close());
  return checker;
}

test("the checker returns the same results as the functions of its thread", async () => {
  const checker = startChecker();
  expect(await checker.findSchemaFault("a", small)).toBeNull();
  expect(await checker.findSchemaFault("a", { type: "nothing" })).toBe(
    'type must be one of "array", "boolean", "integer", "null", "number", "object", "string"',
  );
  expect(await checker.findObject("a", small, { outputs: { n: 1 } })).toEqual({ fault: null, outputs: { n: 1 }, json: '{"n":1}' });
  expect(await checker.findObject("a", small, { output: 'so ```json\n{"n": "x"}\n```' })).toEqual({
    fault: "n must be integer",
    outputs: { n: "x" },
    json: '{"n": "x"}',
  });
  expect(await checker.findObject("a", small, { output: "none" })).toEqual({ fault: null });
});

test("a schema of more than 64 KiB is rejected before it is checked", async () => {
  const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`p${index}`, { type: "string" }]));
  expect(await startChecker().findSchemaFault("a", { properties })).toBe("must take at most 64 KiB as JSON");
});

test("a pattern that backtracks without end takes no CPU time of the event loop", async () => {
  const checker = startChecker();
  await checker.findSchemaFault("a", small);
  const processBefore = process.cpuUsage();
  const before = process.threadCpuUsage();
  expect((await checker.findObject("a", endless, endlessResult)).fault).toBe("takes longer than 1 s to check");
  const ownMs = process.threadCpuUsage(before).user / 1000;
  expect(ownMs).toBeLessThan(process.cpuUsage(processBefore).user / 1000 / 4);
});

test("references that expand exponentially take no CPU time of the event loop", async () => {
  const checker = startChecker();
  await checker.findSchemaFault("a", small);
  const $defs: Record<string, object> = { d0: { type: "string" } };
  for (let level = 1; level < 400; level += 1)
    $defs[`d${level}`] = { anyOf: [{ $ref: `#/$defs/d${level - 1}` }, { $ref: `#/$defs/d${level - 1}` }] };
  const schema = { $defs, $ref: "#/$defs/d399" };
  const before = process.threadCpuUsage();
  const processBefore = process.cpuUsage();
  for (let count = 0; count < 5; count += 1) await checker.findSchemaFault("a", schema);
  expect(process.threadCpuUsage(before).user).toBeLessThan(process.cpuUsage(processBefore).user / 2);
});

test("tenants take turns, so that slow checks of one tenant delay another by at most one check", async () => {
  const checker = startChecker();
  const order: string[] = [];
  const ask = async (name: string, tenant: string, schema: Record<string, unknown>, outputs: Record<string, unknown>) => {
    await checker.findObject(tenant, schema, { outputs });
    order.push(name);
  };
  await Promise.all([
    ...[1, 2, 3].map((number) => ask(`slow ${number}`, "a", endless, endlessResult.outputs)),
    ...[1, 2].map((number) => ask(`quick ${number}`, "b", small, { n: number })),
  ]);
  expect(order).toEqual(["slow 1", "quick 1", "slow 2", "quick 2", "slow 3"]);
});

test("a thread that does not respond is replaced", async () => {
  const checker = startChecker({ responseLimitMs: 50 });
  expect((await checker.findObject("a", endless, endlessResult)).fault).toBe("takes longer than 0.05 s to check");
  const patient = startChecker();
  expect((await patient.findObject("a", small, { outputs: { n: 1 } })).fault).toBeNull();
});

test("an object that exceeds the memory of the thread is a fault of the result, and the next check works", async () => {
  const checker = startChecker();
  const deep = `{"n":${"[".repeat(49_000)}${"]".repeat(49_000)}}`;
  expect((await checker.findObject("a", {}, { output: deep })).fault).toMatch(/^cannot be checked: /);
  expect((await checker.findObject("a", small, { outputs: { n: 1 } })).fault).toBeNull();
});

test("an object with too many values is a fault of the result", async () => {
  const dense = `{"n":[${"0,".repeat(200_000)}0]}`;
  expect(await startChecker().findObject("a", {}, { output: dense })).toEqual({ fault: "the object has more than 50000 values" });
});

test("more than 1,000 waiting schemas of a tenant are rejected, and not those of another tenant", async () => {
  const checker = startChecker();
  const waiting = Array.from({ length: 1001 }, () => checker.findSchemaFault("a", small));
  await expect(checker.findSchemaFault("a", small)).rejects.toMatchObject({ code: "overloaded" });
  expect(await checker.findSchemaFault("b", small)).toBeNull();
  await checker.close();
  await Promise.all(waiting);
});

test("a closed checker rejects schemas, settles no results, and starts no thread", async () => {
  const checker = startChecker();
  const decided: unknown[] = [];
  const ask = () => void checker.findObject("a", endless, endlessResult).then((verdict) => decided.push(verdict));
  ask();
  const waiting = checker.findSchemaFault("b", small);
  await checker.close();
  expect(await waiting).toContain("Bridge is stopping");
  ask();
  expect(await checker.findSchemaFault("a", small)).toContain("Bridge is stopping");
  // A failed result would end its task, which the next start may still retry.
  expect(decided).toEqual([]);
});

import { expect, test } from "vitest";
import { runTransaction } from "../../../../src/store/engines/postgres/batch-transaction.ts";
import { type Connection, connect } from "../../../../src/store/engines/postgres/connection.ts";
import type { OperationKind } from "../../../../src/store/engines/postgres/operation-kind.ts";
import { createDatabase } from "../../../support/postgres/create-database.ts";

/** A kind whose operations run the given statements one after the other. */
const toKind = (name: string, statements: readonly string[], overlaps: boolean): OperationKind<null, unknown> => ({
  name,
  keyOf: () => null,
  isRepeatable: true,
  overlaps: () => overlaps,
  async run(inputs, transaction) {
    let output: unknown = null;
    for (const [index, text] of statements.entries())
      output = (await transaction.query({ name: `${name}_${index}`, text }, []))[0]?.["value"] ?? null;
    return inputs.map(() => ({ output }));
  },
});

async function open() {
  const { urlAt, port, query } = await createDatabase();
  await query("CREATE TABLE probe (value text)");
  const connection = await connect({ url: urlAt(port) });
  const sent: string[] = [];
  const spied: Connection = {
    ...connection,
    query(statement, values) {
      sent.push(typeof statement === "string" ? statement : statement.name);
      return connection.query(statement, values);
    },
  };
  const run = (kinds: readonly OperationKind<null, unknown>[]) =>
    runTransaction(spied, {
      kinds,
      operations: kinds.map((kind) => ({ kind, input: null })),
      marker: { writer: "w", number: 1, previous: 0 },
      node: { id: "n1", incarnation: "1" },
    });
  return {
    connection,
    sent,
    run,
    values: async () => (await query("SELECT value FROM probe")).map((row) => (row as { value: string }).value),
  };
}

test("the first statement of a kind follows that of an overlapping one at once, and sees its effect", async () => {
  const { connection, sent, run } = await open();
  const early = toKind("early", ["INSERT INTO probe VALUES ('early')", "SELECT 'late' AS value"], true);
  const late = toKind("late", ["SELECT value FROM probe"], false);
  const { outputs } = await run([early, late]);
  expect(outputs).toEqual(["late", "early"]);
  expect(sent.filter((name) => /^(early|late)/.test(name))).toEqual(["early_0", "late_0", "early_1"]);
  connection.close();
});

test("a kind that does not overlap is complete before the next one begins", async () => {
  const { connection, sent, run } = await open();
  await run([toKind("early", ["SELECT 1", "SELECT 2"], false), toKind("late", ["SELECT 3"], false)]);
  expect(sent.filter((name) => /^(early|late)/.test(name))).toEqual(["early_0", "early_1", "late_0"]);
  connection.close();
});

test("after an error of an overlapping kind, nothing is left, and the connection is usable", async () => {
  const { connection, run, values } = await open();
  const early = toKind("early", ["SELECT 1", "INSERT INTO probe VALUES ('early')"], true);
  const faulty = toKind("faulty", ["SELECT 1 / 0"], true);
  const late = toKind("late", ["INSERT INTO probe VALUES ('late')"], true);
  await expect(run([early, faulty, late])).rejects.toThrow("division by zero");
  expect(await values()).toEqual([]);
  await run([toKind("next", ["INSERT INTO probe VALUES ('next')"], false)]);
  expect(await values()).toEqual(["next"]);
  connection.close();
});

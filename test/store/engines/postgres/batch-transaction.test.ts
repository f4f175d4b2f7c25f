import { expect, onTestFinished, test } from "vitest";
import { readTransactionStatus, type SentTransaction } from "../../../../src/store/engines/postgres/batch-transaction.ts";
import { type Connection, connect } from "../../../../src/store/engines/postgres/connection.ts";
import { createDatabase } from "../../../support/postgres/create-database.ts";

async function open(): Promise<{ first: Connection; second: Connection }> {
  const { urlAt, port } = await createDatabase();
  const [first, second] = [await connect({ url: urlAt(port) }), await connect({ url: urlAt(port) })];
  onTestFinished(() => {
    first.close();
    second.close();
  });
  return { first, second };
}

const marker = { writer: "w", number: 2, previous: 1 };

async function begin(connection: Connection): Promise<SentTransaction> {
  await connection.query("BEGIN");
  const { rows } = await connection.query("SELECT pg_current_xact_id()::text AS id");
  await connection.query("INSERT INTO commit_marker (writer, number) VALUES ('w', 2)");
  return { id: String(rows[0]?.["id"]), marker };
}

test.each([
  ["COMMIT", "committed"],
  ["ROLLBACK", "aborted"],
])("a transaction is in progress until its %s, and then %s", async (end, status) => {
  const { first, second } = await open();
  const transaction = await begin(first);
  expect(await readTransactionStatus(second, transaction)).toBe("in progress");
  await first.query(end);
  expect(await readTransactionStatus(second, transaction)).toBe(status);
});

test("a transaction of a session that was terminated is aborted", async () => {
  const { first, second } = await open();
  const { rows } = await first.query("SELECT pg_backend_pid() AS pid");
  const transaction = await begin(first);
  await second.query(`SELECT pg_terminate_backend(${rows[0]?.["pid"]})`);
  await expect.poll(() => readTransactionStatus(second, transaction)).toBe("aborted");
});

test("a transaction whose id is in the future, as after a failover, is aborted", async () => {
  const { second } = await open();
  expect(await readTransactionStatus(second, { id: "4000000000", marker })).toBe("aborted");
});

test("a transaction whose id belongs to another transaction, as after a crash of the server, is aborted", async () => {
  const { first, second } = await open();
  const { id } = await begin(first);
  await first.query("COMMIT");
  expect(await readTransactionStatus(second, { id, marker: { ...marker, writer: "other" } })).toBe("aborted");
});

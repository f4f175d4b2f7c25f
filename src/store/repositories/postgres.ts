import type { AnyKind } from "../engines/postgres/batch-transaction.ts";
import type { BatchWriter } from "../engines/postgres/batch-writer.ts";
import type { Row } from "../engines/postgres/connection.ts";
import type { OperationKind, Transaction } from "../engines/postgres/operation-kind.ts";
import type { Reader } from "../engines/postgres/reader-pool.ts";
import { numberParameters, toStatement } from "../engines/postgres/statements.ts";
import type { RepositoryStore } from "./interface.ts";
import { createRepositoryOperations as createOperations, removeUnused, type Write } from "./rows.ts";

/** Statements about the repository of one task. */
interface RepositoryWrite {
  key: string;
  toStatements(now: number): readonly Write[];
}

/** Runs the statements of each write, and returns the rows of its last one. */
const writeOperation: OperationKind<RepositoryWrite, readonly Row[]> = {
  name: "task_repository",
  keyOf: ({ key }) => key,
  isRepeatable: true,
  async run(inputs, transaction) {
    const outputs: { output: readonly Row[] }[] = [];
    for (const { toStatements } of inputs) {
      let output: readonly Row[] = [];
      for (const statement of toStatements(transaction.now)) output = await run(statement, transaction);
      outputs.push({ output });
    }
    return outputs;
  },
};

const run = ([sql, ...values]: Write, transaction: Transaction): Promise<readonly Row[]> =>
  transaction.query(toStatement(numberParameters(sql)), values);

/** The writes of the repositories of tasks. */
export const repositoryKinds: readonly AnyKind[] = [writeOperation];

/** Creates the operations of the repositories of tasks. */
export const createRepositoryOperations = (
  reader: Reader,
  writer: Pick<BatchWriter, "write">,
  clock: () => number = Date.now,
): RepositoryStore =>
  createOperations({
    now: clock,
    all: (sql, ...values) => reader.all(toStatement(numberParameters(sql)), ...values),
    write: (key, toStatements, options) => writer.write(writeOperation, { key, toStatements }, options),
  });

/** Deletes the repositories of tasks that were not stored. Returns their number. */
export const removeExpiredRepositories = async (transaction: Transaction): Promise<number> =>
  (await run(removeUnused(transaction.now), transaction)).length;

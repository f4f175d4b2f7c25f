import { expect, onTestFinished, test } from "vitest";
import { createDatabase } from "../../support/postgres/create-database.ts";
import { openNode } from "../../support/postgres/open-node.ts";

test("a node finds sessions after a newer version has added a column to their table", async () => {
  const database = await createDatabase();
  const { store } = await openNode({ url: database.urlAt(database.port), node: "n1" });
  onTestFinished(() => store.close());
  await store.insertSession({ hash: "a", principal: "p", tenant: "t", scopes: [], tokenProof: "proof", tokenExpiresAt: null }, 9);
  const before = await store.findSession("a");
  await database.query("ALTER TABLE session ADD COLUMN added text");
  expect(await store.findSession("a")).toEqual(before);
});

import { expect, onTestFinished, test } from "vitest";
import { createDatabase } from "../../support/postgres/create-database.ts";
import { openNode } from "../../support/postgres/open-node.ts";

test("an unknown ticket costs no commit, and a ticket of another node is known at once", async () => {
  const database = await createDatabase();
  const url = database.urlAt(database.port);
  const [{ store }, { store: other }] = [await openNode({ url, node: "n1" }), await openNode({ url, node: "n2" })];
  onTestFinished(async () => void (await Promise.all([store.close(), other.close()])));
  const ticket = { hash: "a", principal: "p", tenant: "t", scopes: [], tokenProof: "proof", tokenExpiresAt: null };
  await other.insertTicketIfRoom(ticket, 9);
  const countCommits = () => database.query("SELECT writer, number FROM commit_marker ORDER BY writer");
  const before = await countCommits();
  for (const hash of ["b", "A", "a\0", ""]) expect(await store.redeemTicket(hash)).toBeNull();
  expect(await countCommits()).toEqual(before);
  expect(await store.redeemTicket("a")).toMatchObject({ principal: "p", tokenProof: "proof" });
  expect(await store.redeemTicket("a")).toBeNull();
});

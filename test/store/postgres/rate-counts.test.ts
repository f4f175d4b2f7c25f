import { expect, onTestFinished, test } from "vitest";
import { createDatabase } from "../../support/postgres/create-database.ts";
import { openNode } from "../../support/postgres/open-node.ts";

test("the requests of all nodes are added up by key and minute, and counts of earlier minutes are deleted", async () => {
  const database = await createDatabase();
  const open = async (node: string) => {
    const { store, rates } = await openNode({ url: database.urlAt(database.port), node });
    onTestFinished(() => store.close());
    return rates;
  };
  const [first, second] = [await open("n1"), await open("n2")];
  await database.query("INSERT INTO rate (name, minute, count) VALUES ('a', 1, 5)");
  const add = async () => {
    await first.addRateCounts(
      new Map([
        ["a", 2],
        ["b", 1],
      ]),
    );
    return second.addRateCounts(new Map([["a", 3]]));
  };
  // The minute can end between the two.
  let found = await add();
  if (found.endsInMs > 59_000) found = await add();
  expect(found.sums).toEqual(new Map([["a", 5]]));
  expect(found.endsInMs).toBeGreaterThan(0);
  expect(found.endsInMs).toBeLessThanOrEqual(60_000);
  expect(await database.query("SELECT name FROM rate WHERE minute = 1")).toEqual([]);
  await Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? first : second).addRateCounts(new Map([["c", 1]]))));
  expect(await database.query("SELECT sum(count)::int AS count FROM rate WHERE name = 'c'")).toEqual([{ count: 20 }]);
});

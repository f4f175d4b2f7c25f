import { expect, onTestFinished, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../support/postgres/create-database.ts";
import { openNode } from "../../support/postgres/open-node.ts";

test("the requests of all nodes are added up by key and minute, and counts of earlier minutes are deleted", async () => {
  const database = await createDatabase();
  const open = async (node: string) => {
    const { store, rates } = await openNode({ url: database.urlAt(database.port), node });
    onTestFinished(() => store.close());
    return rates;
  };
  const [first, second] = [await open("n1"), await open("n2")];
  await database.query("INSERT INTO rate (name, minute, count) VALUES ('earlier', 1, 5)");
  const { added, sum, counted } = await repeatIfMinuteEnds(database, async (minute) => {
    const [a, b, c] = ["a", "b", "c"].map((name) => `${name}-${minute}`) as [string, string, string];
    await first.addRateCounts(
      new Map([
        [a, 2],
        [b, 1],
      ]),
    );
    const added = await second.addRateCounts(new Map([[a, 3]]));
    await Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? first : second).addRateCounts(new Map([[c, 1]]))));
    const counted = await database.query("SELECT sum(count)::int AS count FROM rate WHERE name = $1", [c]);
    return { added, sum: added.sums.get(a), counted };
  });
  expect([sum, added.sums.size]).toEqual([5, 1]);
  expect(added.endsInMs).toBeGreaterThan(0);
  expect(added.endsInMs).toBeLessThanOrEqual(60_000);
  expect(counted).toEqual([{ count: 20 }]);
  expect(await database.query("SELECT name FROM rate WHERE minute = 1")).toEqual([]);
});

/** Acts, and again in the next minute if the minute has ended meanwhile. */
async function repeatIfMinuteEnds<T>({ query }: TestDatabase, act: (minute: number) => Promise<T>): Promise<T> {
  const read = async () => {
    const [row] = await query<{ minute: number }>("SELECT floor(extract(epoch FROM clock_timestamp()) / 60)::int AS minute");
    return row?.minute ?? 0;
  };
  for (;;) {
    const minute = await read();
    const result = await act(minute);
    if ((await read()) === minute) return result;
  }
}

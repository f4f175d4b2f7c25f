import { onTestFinished, test } from "vitest";
import { raceForBudget } from "../../conformance/store/budget-race.ts";
import { createDatabase } from "../../support/postgres/create-database.ts";
import { openNode } from "../../support/postgres/open-node.ts";

test("200 tasks that race for a budget on three nodes never reserve more than it has", async () => {
  const { urlAt, port } = await createDatabase();
  const nodes = await Promise.all(["n1", "n2", "n3"].map((node) => openNode({ node, url: urlAt(port) })));
  for (const { store } of nodes) onTestFinished(() => store.close());
  await raceForBudget(nodes.map(({ store }) => store));
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { type PostgresCluster, startCluster } from "../support/postgres/cluster.ts";
import { runScenario } from "./cluster-run.ts";
import { scenarios } from "./scenarios/index.ts";

let server: PostgresCluster;
beforeAll(async () => {
  server = await startCluster();
});
afterAll(() => server.close());

test.each(scenarios)("all guarantees hold in the scenario $name", async (scenario) => {
  const { violations } = await runScenario({ server, scenario, seed: 1, nodes: 2, leaseSeconds: 3, extent: 0.1 });
  expect(violations).toEqual([]);
});

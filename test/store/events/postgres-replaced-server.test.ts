import { expect, onTestFinished, test } from "vitest";
import { migrate } from "../../../src/store/engines/postgres/migrate.ts";
import { createLogEpoch } from "../../../src/store/events/postgres-epoch.ts";
import { startCluster } from "../../support/postgres/cluster.ts";

test("a node that reaches the new server closes its connections to the old one, although that one still runs", async () => {
  const server = await startCluster();
  onTestFinished(() => server.close());
  await migrate(server.urlOf("postgres"));
  const losses: string[] = [];
  const log = createLogEpoch(() => {});
  const old = await log.connect({ url: server.urlOf("postgres"), onLost: () => losses.push("old") });
  await server.startReplica();
  const url = server.urlOf("postgres", await server.promoteReplica());
  const present = await log.connect({ url, onLost: () => losses.push("present") });
  expect({ old: old.isLost, present: present.isLost, losses }).toEqual({ old: true, present: false, losses: ["old"] });
  await expect(log.connect({ url: server.urlOf("postgres") })).rejects.toThrow("replaced by another one");
  present.close();
});

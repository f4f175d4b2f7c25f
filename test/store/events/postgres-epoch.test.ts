import { expect, test, vi } from "vitest";
import { createLogEpoch } from "../../../src/store/events/postgres-epoch.ts";
import { createDatabase } from "../../support/postgres/create-database.ts";
import { openNode } from "../../support/postgres/open-node.ts";
import { startProxy } from "../../support/postgres/proxy.ts";

test("a server that does not report its timeline is used, and the event log keeps its epoch", async () => {
  const { name, port, urlAt, query, queryServer } = await createDatabase({ isEmpty: true });
  const role = `owner_of_${name}`;
  await queryServer(`CREATE ROLE ${role} LOGIN`);
  await queryServer(`ALTER DATABASE ${name} OWNER TO ${role}`);
  await query(`ALTER SCHEMA public OWNER TO ${role}`);
  await query("REVOKE EXECUTE ON FUNCTION pg_current_wal_lsn() FROM PUBLIC");
  const url = new URL(urlAt(port));
  url.username = role;

  const epochs: string[] = [];
  for (const node of ["first", "second"]) {
    const { store } = await openNode({ url: url.href, node });
    epochs.push(store.epoch);
    await store.close();
  }
  expect(epochs[0]).toMatch(/^\w+$/);
  expect(epochs[1]).toBe(epochs[0]);
});

test("a server that refuses connections is reported, and the loss of the connection has no other effect", async () => {
  const { port } = await startProxy(1);
  const onChange = vi.fn();
  const onLost = vi.fn();
  await expect(createLogEpoch(onChange).connect({ url: `postgres://bridge@127.0.0.1:${port}/any`, onLost })).rejects.toThrow();
  await vi.waitFor(() => expect(onLost).toHaveBeenCalled());
  expect(onChange).not.toHaveBeenCalled();
});

import { expect, test } from "vitest";
import { GatewayError } from "../../../adapters/openclaw/gateway-error.ts";
import { createManagers } from "../../../adapters/openclaw/manage/create-managers.ts";
import type { ManageContext } from "../../../adapters/openclaw/manage/manage-context.ts";
import { createConfig, createManagersFixture } from "./manage-fixture.ts";

const reason = new Error("The caller has gone.");

test("a call whose signal is aborted does not call the gateway", async () => {
  const { managers, calls } = createManagersFixture();
  const call = { signal: AbortSignal.abort(reason) };
  await expect(managers.listAgents(call)).rejects.toBe(reason);
  await expect(managers.createAgent("writer", {}, call)).rejects.toBe(reason);
  await expect(managers.updateAgent("main", { name: "x" }, undefined, call)).rejects.toBe(reason);
  await expect(managers.reloadConfig(call)).rejects.toBe(reason);
  expect(calls).toEqual([]);
});

test("a write that waits for its turn does not start after its signal is aborted", async () => {
  const goOn = Promise.withResolvers<void>();
  const writeContext = Promise.withResolvers<void>();
  const { managers, called } = createManagersFixture({
    "agents.files.set": async () => {
      writeContext.resolve();
      await goOn.promise;
      return { workspace: "/srv/main", file: { name: "SOUL.md" } };
    },
  });
  const stop = new AbortController();
  const first = managers.writeAgentFile("main", "SOUL.md", "first");
  await writeContext.promise;
  const second = managers.writeAgentFile("main", "SOUL.md", "second", undefined, { signal: stop.signal });
  stop.abort(reason);
  goOn.resolve();
  await first;
  await expect(second).rejects.toBe(reason);
  expect(called("agents.files.set")).toHaveLength(1);
});

test("polling for a change on the gateway ends when the signal is aborted", async () => {
  const stop = new AbortController();
  let applied = 0;
  const { managers } = createManagersFixture({
    "config.get": () => {
      applied += 1;
      if (applied === 3) stop.abort(reason);
      return { valid: true, hash: "h", issues: [], configRevisionHash: "new", appliedConfigHash: "old", sourceConfig: {} };
    },
  });
  await expect(managers.reloadConfig({ signal: stop.signal })).rejects.toBe(reason);
  expect(applied).toBe(3);
});

test("a write that has changed something completes its remaining steps after an abort", async () => {
  const config = createConfig({ agents: { entries: { main: {}, writer: {} } } });
  const stop = new AbortController();
  const { managers, called } = createManagersFixture({
    ...config.answers,
    "config.patch": (params) => {
      stop.abort(reason);
      return config.answers["config.patch"](params);
    },
    "config.schema.lookup": () => ({ children: [{ key: "name" }, { key: "identity" }] }),
    "agents.update": () => ({ ok: true }),
  });
  await managers.updateAgent("writer", { name: "Writer" }, undefined, { signal: stop.signal }).catch(() => {});
  expect(called("agents.update")).toEqual([{ agentId: "writer", name: "Writer" }]);
});

test("a read without a response of the gateway rejects when its signal is aborted", async () => {
  const stop = new AbortController();
  const asked = Promise.withResolvers<void>();
  const gateway = {
    hello: null,
    hasMethod: () => true,
    call: (_method: string, _params?: object, options: { signal?: AbortSignal } = {}) =>
      new Promise<never>((_, reject) => {
        options.signal?.addEventListener("abort", () => reject(new GatewayError({ code: "ABORTED", message: "The call was aborted." })));
        asked.resolve();
      }),
  } as ManageContext["gateway"];
  const managers = createManagers(() => ({
    gateway,
    env: {},
    dataDir: "/nonexistent",
    sandbox: null,
    onOrphansKilled: () => {},
    stateDir: null,
    command: null,
  }));
  const listing = managers.listAgents({ signal: stop.signal });
  await asked.promise;
  stop.abort(reason);
  await expect(listing).rejects.toBe(reason);
});

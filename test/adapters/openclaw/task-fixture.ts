import { mkdirSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished } from "vitest";
import type { AdapterConfig, ExecutionRequest } from "#contract";
import { createOpenClawAdapter } from "../../../adapters/openclaw/index.ts";
import { createAdapterConfig } from "../../conformance/adapter-config.ts";
import { startTask } from "../../runtimes/start-task.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import type { FakeGateway } from "./fake-gateway.ts";

/** Starts an adapter that connects to this gateway. */
export async function startAdapter(fake: FakeGateway, changes: Partial<AdapterConfig> = {}) {
  const root = await temporaryDirectory();
  const at = (name: string) => path.join(root, name);
  const directories = { workspace: at("workspace"), cwd: at("workspace"), home: at("home"), tmp: at("tmp") };
  for (const directory of Object.values(directories)) mkdirSync(directory, { recursive: true });
  const adapter = createOpenClawAdapter();
  onTestFinished(() => adapter.shutdown());
  await adapter.initialize(createAdapterConfig(root, { settings: { url: fake.url, token: fake.token }, ...changes }));
  const start = (given: Partial<ExecutionRequest>) => startTask(adapter, directories, { agentId: "main", ...given });
  return { adapter, start, root };
}

/** Returns the calls of a method. */
export const callsOf = (fake: FakeGateway, method: string) => fake.calls.filter((call) => call.method === method);

/** Waits until the only task has emitted an event, and returns its run. */
export async function runOf(fake: FakeGateway, { events }: { events: unknown[] }) {
  await expect.poll(() => events.length).toBeGreaterThan(0);
  const [found] = fake.runs;
  if (found === undefined) throw new Error("there is no run");
  return { runId: found[0], run: found[1] };
}

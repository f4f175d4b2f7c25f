import { mkdirSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { AdapterConfig, ExecutionAdapter } from "#contract";
import { createDeepCouncilAdapter } from "../../../adapters/council/index.ts";
import { createAdapterConfig } from "../../conformance/adapter-config.ts";
import { startTask } from "../../runtimes/start-task.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

test.each([
  ["implementation", 1],
  ["review", 6],
])("in a council on two runtimes with task type %s, at most %i roles run at the same time", async (task_type, most) => {
  const root = await temporaryDirectory();
  let atOnce = 0;
  let mostAtOnce = 0;
  const expected = Promise.withResolvers<void>();
  const runChild: AdapterConfig["runChild"] = async () => {
    atOnce += 1;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    // Each role waits until the maximum number is running, so that an additional one would be counted.
    if (atOnce >= most) expected.resolve();
    await expected.promise;
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    atOnce -= 1;
    return { status: "ok", output: JSON.stringify({ outputs: [] }), durationMs: 1, connection: "cli" };
  };
  const adapter = createDeepCouncilAdapter() as Required<ExecutionAdapter>;
  onTestFinished(() => adapter.shutdown());
  const described = {
    health: "healthy",
    connection: "cli",
    path: null,
    detail: null,
    capabilities: { sessionResume: false } as never,
    timeoutMultiplier: 1,
  } as const;
  await adapter.initialize(createAdapterConfig(root, { runChild, describeProvider: () => described }));
  const directories = { workspace: root, cwd: root, home: path.join(root, "home"), tmp: path.join(root, "tmp") };
  mkdirSync(directories.home);
  const bridgeInput = { scope: "login.ts", task_description: "Do it.", task_type, domains: ["security"], providers: ["one", "two"] };
  const { result } = await startTask(adapter, directories, { bridgeInput, ...(task_type === "implementation" && { profile: "modify" }) })
    .done;
  expect(result).toMatchObject({ status: "ok", outputs: { status: "COMPLETED" } });
  expect(mostAtOnce).toBe(most);
});

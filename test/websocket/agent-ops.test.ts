import { expect, test } from "vitest";
import { createDispatchParser } from "../../src/requests/parse-dispatch.ts";
import { type AgentOpOptions, createAgentOps } from "../../src/websocket/agent-ops.ts";
import { leastCpuRatio } from "../support/cpu-time.ts";

const parseDispatch = createDispatchParser([]);

/** Creates `agent.run`, which stops after it has parsed the dispatch. */
function createRunOp() {
  const options: Partial<AgentOpOptions> = {
    checkCanStart() {},
    async receiveDispatch(body) {
      parseDispatch(body, { defaultProfile: "inspect" });
      throw new Error("The dispatch is valid.");
    },
  };
  const op = createAgentOps(options as AgentOpOptions).find(({ name }) => name === "agent.run");
  return (payload: Record<string, unknown>) => op?.execute({ payload, meta: { tenant: "default", principal: { name: "test" } } } as never);
}

test("agent.run with 49,900 unknown fields takes at most four times the CPU time of JSON.parse", async () => {
  const run = createRunOp();
  const names = Array.from({ length: 49_900 }, (_, index) => `"${`${(index * 7919) % 49_999}`.padStart(7, "k")}":1`);
  const payload = `{"agent":"a","input":"Hello.","provider":"noop",${names.join(",")}}`;
  await expect(run(JSON.parse(payload))).rejects.toMatchObject({ code: "invalid_request" });
  // The op parses the dispatch before its first wait.
  const ratio = leastCpuRatio(
    () => void run(JSON.parse(payload))?.catch(() => {}),
    () => JSON.parse(payload),
    4,
  );
  expect(ratio).toBeLessThanOrEqual(4);
});

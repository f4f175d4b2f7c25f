import { createDispatchParser } from "../../src/requests/parse-dispatch.ts";
import { type AgentOpOptions, createAgentOps } from "../../src/websocket/agent-ops.ts";

/** The number of unknown fields of the payload. */
export const FIELDS = 49_900;

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

/** Runs `agent.run` with the unknown fields. */
export function runWithUnknownFields(): unknown {
  const names = Array.from({ length: FIELDS }, (_, index) => [`${(index * 7919) % 49_999}`.padStart(7, "k"), 1]);
  return createRunOp()({ agent: "a", input: "Hello.", provider: "noop", ...Object.fromEntries(names) });
}

/** The op parses the dispatch before its first wait, so its work is counted. */
export const workloads = { run: () => void Promise.resolve(runWithUnknownFields()).catch(() => {}) };

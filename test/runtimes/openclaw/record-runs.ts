import { lookup } from "node:dns";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createGateway } from "../../../adapters/openclaw/gateway.ts";
import type { GatewayEvent } from "../../../adapters/openclaw/gateway-socket.ts";
import type { Step } from "../model-server/scenarios.ts";
import { createModelServer } from "../model-server/server.ts";
import { startGateway } from "./start-gateway.ts";

// Records the messages of the real gateway in the runs that the fake gateway replays: node test/runtimes/openclaw/record-runs.ts [names of
// runs, else all]

interface Scenario {
  steps: Step[];
  params?: Record<string, unknown>;
  permissionMode?: "read-only" | "guarded" | "full";
  /** The action that follows when the model or a tool is running. */
  act?(run: { sessionKey: string }): Promise<unknown>;
  answer?: "allow-once" | "deny";
}

const exec = (command: string): Step => ({ say: "I look.", tools: [{ kind: "shell", command }] });
const scenarios: Record<string, Scenario> = {
  speak: { steps: [{ text: "A first part, a second part, and a third one.", chunks: 3 }] },
  tool: { steps: [exec("echo seen"), { text: "I have seen it." }] },
  failedTool: { steps: [exec("exit 3"), { text: "It did not work." }] },
  refusedTool: { steps: [exec("touch denied.txt"), { text: "I may not." }], permissionMode: "read-only" },
  approved: { steps: [exec("touch asked.txt"), { text: "Well." }], permissionMode: "guarded", answer: "allow-once" },
  rejected: { steps: [exec("touch asked.txt"), { text: "Well." }], permissionMode: "guarded", answer: "deny" },
  cancelled: { steps: [exec("sleep 60")], act: ({ sessionKey }) => gateway.call("sessions.abort", { key: sessionKey, clearQueued: true }) },
  cancelledModel: { steps: [{ hang: true, say: "I think." }], act: ({ sessionKey }) => gateway.call("chat.abort", { sessionKey }) },
  timedOut: { steps: [{ hang: true, say: "I think." }], params: { timeout: 3 } },
  cutShort: { steps: [{ text: "Half an ans", cutShort: true }] },
  refused: { steps: [{ refuse: "I will not do that." }] },
  broken: { steps: [{ breakIn: "text", say: "This sentence is broken" }, { text: "The whole answer." }] },
  badRequest: { steps: [{ error: 400 }] },
  unknownModel: { steps: [{ text: "?" }], params: { model: "nowhere/unknown" } },
  unknownAgent: { steps: [{ text: "?" }], params: { agentId: "nobody", sessionKey: "agent:nobody:bridge-record" } },
  // After this run, the gateway does not call the provider for a minute.
  refusedKey: { steps: [{ error: 401 }] },
  cooledDown: { steps: [{ text: "?" }] },
};

const root = mkdtempSync(path.join(tmpdir(), "bridge-record-"));
const workspace = path.join(root, "workspace");
mkdirSync(workspace);
const model = await createModelServer();
const real = await startGateway({ modelUrl: model.url });
const gateway = createGateway({ url: real.url, token: real.token, lookup, logger: { debug() {}, info() {}, warn() {}, error() {} } });
const { version, methods, policy } = await gateway.waitForConnection();
const file = path.resolve(import.meta.dirname, "../../adapters/openclaw/recorded-runs.json");
const names = process.argv.slice(2);
const runs: Record<string, unknown> = names.length === 0 ? {} : JSON.parse(readFileSync(file, "utf8")).runs;
for (const [name, scenario] of Object.entries(scenarios))
  if (names.length === 0 || names.includes(name)) runs[name] = await record(name, scenario);
const unknownWait = await gateway.call("agent.wait", { runId: "unknown", timeoutMs: 1 });
await gateway.close();
await real.close();
await model.close();
rmSync(root, { recursive: true });
writeFileSync(file, `${JSON.stringify({ hello: { version, methods: [...methods].sort(), policy }, runs, unknownWait }, null, 1)}\n`);
console.log(file);

async function record(name: string, { steps, params = {}, permissionMode = "full", act, answer }: Scenario): Promise<unknown> {
  const sessionKey = `agent:main:bridge-record-${name.toLowerCase()}`;
  const runId = `run-${name}`;
  const events: GatewayEvent[] = [];
  const isAtWork = Promise.withResolvers<void>();
  const unsubscribe = gateway.onEvent((event) => {
    const text = JSON.stringify(event.payload);
    if (!["agent", "task", "chat", "exec.approval.requested"].includes(event.event) || !text.includes(runId)) return;
    events.push(event);
    if (/"stream":"tool"|I think/.test(text)) isAtWork.resolve();
    const { id } = event.payload as { id?: string };
    if (event.event === "exec.approval.requested") void gateway.call("exec.approval.resolve", { id, decision: answer });
  });
  const session = (await gateway.call("sessions.create", { agentId: "main", key: sessionKey, permissionMode, cwd: workspace })) as {
    sessionId: string;
  };
  const given = { agentId: "main", sessionKey, idempotencyKey: runId, message: model.scenario(steps), deliver: false, ...params };
  let accepted: unknown = null;
  const final = gateway
    .call("agent", given, {
      onAccepted: (payload) => {
        accepted = payload;
      },
    })
    .then(
      (payload) => ({ payload }),
      ({ code, message, details }: { code: string; message: string; details: unknown }) => ({ refusal: { code, message, details } }),
    );
  if (act !== undefined) {
    await isAtWork.promise;
    await act({ sessionKey });
  }
  const outcome = await final;
  const wait = await gateway.call("agent.wait", { runId, timeoutMs: 1 }).catch(() => null);
  const { tasks } = (await gateway.call("tasks.list", { sessionKey })) as { tasks: unknown[] };
  unsubscribe();
  const text = JSON.stringify({ accepted, events, ...outcome, wait, row: tasks[0] ?? null }, (key, value) =>
    // These fields are long and describe only the gateway.
    ["systemPromptReport", "skillsSnapshot", "contextBudgetStatus", "session"].includes(key) ? undefined : value,
  );
  const anonymous = text.replaceAll(runId, "RUN").replaceAll(sessionKey, "KEY").replaceAll(session.sessionId, "SESSION");
  return JSON.parse(anonymous.replaceAll(workspace, "/workspace").replaceAll(real.stateDir, "/state").replaceAll(real.workspace, "/agent"));
}

import { createInterface } from "node:readline";
import {
  type BridgeClient,
  BridgeClientError,
  type BridgeClientOptions,
  createBridgeClient,
  type Gap,
  verifyCallback,
} from "bridge-client";
import { type CallMessage, toLine } from "./start-client.ts";

// Executes calls of the TypeScript client for a test, with the protocol of `run_client.py`.

async function collect<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const entry of entries) collected.push(entry);
  return collected;
}
const reply = (message: object): boolean => process.stdout.write(toLine(message));

// The parameters of each call are checked by the expectations of the test.
// biome-ignore lint/suspicious/noExplicitAny: the calls have different parameters
type Given = any;

const calls: Record<string, (bridge: BridgeClient, given: Given) => Promise<unknown>> = {
  dispatch: (bridge, { request }) => bridge.dispatch(request),
  checkDispatch: (bridge, { request }) => bridge.checkDispatch(request),
  run: (bridge, { request }) => bridge.run(request),
  getTask: (bridge, { taskId, waitSeconds }) => bridge.getTask(taskId, { waitSeconds }),
  waitForTask: (bridge, { taskId, timeoutSeconds }) =>
    bridge.waitForTask(taskId, timeoutSeconds === undefined ? {} : { signal: AbortSignal.timeout(timeoutSeconds * 1000) }),
  deleteTask: (bridge, { taskId }) => bridge.deleteTask(taskId),
  listTasks: (bridge, { filter }) => collect(bridge.listTasks(filter)),
  cancel: (bridge, { taskId }) => bridge.cancel(taskId),
  getIdentity: (bridge) => bridge.getIdentity(),
  listAdapters: (bridge) => collect(bridge.listAdapters()),
  listDomains: async (bridge, { workspace }) => (await bridge.listDomains(workspace)).domains,
  checkAdapter: (bridge, { provider }) => bridge.checkAdapter(provider),
  "approvals.list": (bridge, { filter }) => collect(bridge.approvals.list(filter)),
  "approvals.decide": (bridge, { approvalId, decision, reason, raiseByUsd }) =>
    bridge.approvals.decide(approvalId, decision, reason, { raiseByUsd }),
  "callbacks.list": (bridge, { filter }) => collect(bridge.callbacks.list(filter)),
  "callbacks.get": (bridge, { taskId }) => bridge.callbacks.get(taskId),
  "callbacks.redeliver": (bridge, { taskId }) => bridge.callbacks.redeliver(taskId),
  "files.list": async (bridge, { taskId }) => (await bridge.files.list(taskId)).files,
  "files.download": async (bridge, { taskId, path }) => (await bridge.files.download(taskId, path)).text(),
  "files.diff": (bridge, { taskId }) => bridge.files.diff(taskId),
  "files.patch": async (bridge, { taskId }) => new TextDecoder().decode(await bridge.files.patch(taskId)),
  "repositories.list": (bridge) => collect(bridge.repositories.list()),
  verifyCallback: (_, { headers, body, secrets }) => verifyCallback(headers, body, secrets),
};

async function followEvents(bridge: BridgeClient, number: number, given: Given): Promise<unknown> {
  const gaps: Gap[] = [];
  const events: unknown[] = [];
  const onGap = given.toleratesGaps === true ? (gap: Gap) => void gaps.push(gap) : undefined;
  for await (const event of bridge.events(given.source ?? {}, { after: given.after, onGap })) {
    events.push(event);
    reply({ number, event });
    if (event.type === given.stopAfter) break;
  }
  return { events, gaps };
}

function describe(error: unknown): object {
  if (!(error instanceof BridgeClientError)) return { name: (error as Error).name, message: (error as Error).message };
  const { code, message, status, requestId, errors, retryAfterMs, queue } = error;
  return { code, message, status, requestId, errors, retryAfterMs, queue };
}

async function execute({ number, call, client, given }: CallMessage): Promise<void> {
  try {
    // Each call has a new client, which has had no answer when Bridge restarts.
    const bridge = createBridgeClient({ ...(client as BridgeClientOptions), waitsForStart: true });
    const result = await (call === "events" ? followEvents(bridge, number, given) : calls[call]?.(bridge, given));
    reply({ number, result: result ?? null });
  } catch (error) {
    reply({ number, error: describe(error) });
  }
}

for await (const line of createInterface(process.stdin)) void execute(JSON.parse(line) as CallMessage);

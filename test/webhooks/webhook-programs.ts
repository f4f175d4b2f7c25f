import { writeFile } from "node:fs/promises";
import path from "node:path";
import { onTestFinished } from "vitest";
import { type BridgeProgram, dispatchTask } from "../support/bridge-program.ts";
import { type Answer, startReceiver } from "../support/start-receiver.ts";

/** A body of a webhook that concerns a task. */
interface TaskBody {
  type: string;
  data: { taskId: string; approvalId?: string };
}

/** Starts a subscriber, and returns the settings of a Bridge whose tasks ask for approvals and whose webhooks reach it. */
export async function startSubscriber(directory: string, answer?: Answer) {
  const receiver = await startReceiver(answer);
  onTestFinished(receiver.close);
  const file = path.join(directory, "webhooks.json");
  const secrets = [`whsec_${Buffer.alloc(32).toString("base64")}`];
  const webhook = { url: receiver.origin, secrets, types: ["tool.approval_requested", "execution.completed", "execution.failed"] };
  await writeFile(file, JSON.stringify([{ name: "oncall", ...webhook }]));
  return {
    settings: {
      BRIDGE_ADAPTERS: path.join(import.meta.dirname, "asking-adapter.ts"),
      BRIDGE_WEBHOOKS_FILE: file,
      BRIDGE_PUBLIC_URL: "http://127.0.0.1",
      BRIDGE_SANDBOX: "off",
      BRIDGE_MAX_CONCURRENT: "64",
    },
    /** The task and the type of each event that has arrived, in order. */
    received: (): string[] =>
      receiver.posts.map(({ body }) => {
        const { type, data } = JSON.parse(body.toString()) as TaskBody;
        return `${data.taskId} ${type}`;
      }),
    ids: (): string[] => receiver.posts.map(({ headers }) => String(headers["webhook-id"])),
  };
}

/** Dispatches a task that asks for an approval. */
export const dispatchAsking = (bridge: Pick<BridgeProgram, "call">, taskId: string): Promise<Response> =>
  dispatchTask(bridge, { taskId, agentId: taskId, message: "ask", approvals: "ask" });

/** The task and the type of each stored event that a webhook gets. */
export async function listWanted(bridge: Pick<BridgeProgram, "call">, taskIds: readonly string[]): Promise<string[]> {
  const wanted: string[] = [];
  for (const taskId of taskIds) {
    const response = await bridge.call("GET", `/api/v2/tasks/${taskId}/events?limit=200`);
    if (response.status === 404) continue;
    const { data } = (await response.json()) as { data: { type: string }[] };
    for (const { type } of data)
      if (/^(tool\.approval_requested|execution\.(completed|failed))$/.test(type)) wanted.push(`${taskId} ${type}`);
  }
  return wanted;
}

import { cancelTask, type Dispatch, dispatchTask, type Event, getTask, listTaskEvents, listTasks } from "./generated/orval/client.ts";
import { GetTaskResponse, ListTasksResponse } from "./generated/orval/zod.ts";
import type { Address, Outcome } from "./outcome.ts";

/** Dispatches, waits, lists, cancels and reads events with orval, and validates answers with its zod schemas. */
export async function useClient({ url, token }: Address): Promise<Outcome> {
  // orval's functions fetch paths, so the caller supplies the base URL.
  const { fetch } = globalThis;
  globalThis.fetch = (target, init) => fetch(new URL(String(target), url), init);
  try {
    return await useFunctions({ authorization: `Bearer ${token}` });
  } finally {
    globalThis.fetch = fetch;
  }
}

async function useFunctions(headers: Record<string, string>): Promise<Outcome> {
  const body: Dispatch = { taskId: "orval-1", provider: "memory", agentId: "writer", message: "Hello." };

  async function waitFor(dispatched: Dispatch) {
    const { status } = await dispatchTask(dispatched, { headers: { ...headers, prefer: "wait=30" } });
    if (status !== 200) throw new Error(`The dispatch answered ${status}.`);
    return GetTaskResponse.parse((await getTask(dispatched.taskId ?? "", { headers })).data);
  }

  const accepted = await dispatchTask(body, { headers });
  if (accepted.status !== 202) throw new Error(`The dispatch answered ${accepted.status}.`);
  const waited = await waitFor(body);
  const endless = { ...body, taskId: "orval-2", message: "wait" };
  await dispatchTask(endless, { headers });
  const listed = ListTasksResponse.parse((await listTasks({ agentId: "writer", limit: 2 }, { headers })).data);
  await cancelTask(endless.taskId, { headers });
  const cancelled = await waitFor(endless);
  const refused = await getTask("missing", { headers });
  const events = await listTaskEvents("orval-1", undefined, { headers });
  return {
    accepted: { taskId: accepted.data.taskId, state: accepted.data.state, location: accepted.headers.get("location") },
    waited: { state: waited.state, output: waited.result?.output },
    listed: listed.data.map(({ taskId }) => taskId),
    cancelled: cancelled.state,
    refused: refused.status === 404 ? refused.data.code : "",
    events: events.status === 200 && "meta" in events.data ? events.data.data.map(describe) : [],
  };
}

/** The type of an event determines the type of its data. */
const describe = (event: Event): string => (event.type === "assistant.text" ? `${event.type} ${event.data.content}` : event.type);

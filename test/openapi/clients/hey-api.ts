import { createClient } from "./generated/hey-api/client/index.ts";
import { cancelTask, dispatchTask, getTask, listTaskEvents, listTasks, streamEvents } from "./generated/hey-api/sdk.gen.ts";
import type { Dispatch, Event, Task } from "./generated/hey-api/types.gen.ts";
import { zTask } from "./generated/hey-api/zod.gen.ts";
import type { Address, Outcome } from "./outcome.ts";

/** Dispatches, waits, lists, cancels and reads events with hey-api, which validates every answer with zod. */
export async function useClient({ url, token }: Address): Promise<Outcome> {
  const client = createClient({ baseUrl: url, auth: token });
  const body: Dispatch = { taskId: "hey-api-1", provider: "memory", agentId: "writer", message: "Hello." };

  async function waitFor(dispatched: Dispatch): Promise<Task> {
    const { data } = await dispatchTask({ client, body: dispatched, headers: { prefer: "wait=30" }, throwOnError: true });
    return zTask.parse(data);
  }

  const accepted = await dispatchTask({ client, body, throwOnError: true });
  const waited = await waitFor(body);
  const endless = { ...body, taskId: "hey-api-2", message: "wait" };
  await dispatchTask({ client, body: endless, throwOnError: true });
  const listed = await listTasks({ client, query: { agentId: "writer", limit: 2 }, throwOnError: true });
  await cancelTask({ client, path: { taskId: endless.taskId }, throwOnError: true });
  const cancelled = await waitFor(endless);
  const refused = await getTask({ client, path: { taskId: "missing" } });
  const { data: page } = await listTaskEvents({ client, path: { taskId: "hey-api-1" }, throwOnError: true });
  // Only a stream that has ended returns no content.
  if (page === undefined) throw new Error("The list of events is missing.");

  const events: string[] = [];
  const [epoch] = page.data[0]?.id.split("-") ?? [];
  const { stream } = await streamEvents({ client, query: { taskId: "hey-api-1", lastEventId: `${epoch}-0` } });
  for await (const message of stream) {
    // Control messages of the stream have no type.
    if ("type" in message) events.push(describe(message));
    if (events.length === page.data.length) break;
  }

  return {
    accepted: { taskId: accepted.data.taskId, state: accepted.data.state, location: accepted.response.headers.get("location") },
    waited: { state: waited.state, output: waited.result?.output },
    listed: listed.data.data.map(({ taskId }) => taskId),
    cancelled: cancelled.state,
    refused: refused.error?.code ?? "",
    events,
  };
}

/** The type of an event determines the type of its data. */
const describe = (event: Event): string => (event.type === "assistant.text" ? `${event.type} ${event.data.content}` : event.type);

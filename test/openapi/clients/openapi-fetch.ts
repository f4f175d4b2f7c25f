import createClient from "openapi-fetch";
import type { components, paths } from "./generated/openapi-typescript/schema.ts";
import type { Address, Outcome } from "./outcome.ts";

type Schemas = components["schemas"];

/** Dispatches, waits, lists, cancels and reads events with openapi-typescript and openapi-fetch. */
export async function useClient({ url, token }: Address): Promise<Outcome> {
  const client = createClient<paths>({ baseUrl: url, headers: { authorization: `Bearer ${token}` } });
  const body: Schemas["Dispatch"] = { taskId: "openapi-fetch-1", provider: "memory", agentId: "writer", message: "Hello." };

  async function waitFor(dispatched: Schemas["Dispatch"]): Promise<Schemas["Task"]> {
    const { data, error } = await client.POST("/api/v2/dispatch", { params: { header: { prefer: "wait=30" } }, body: dispatched });
    if (error !== undefined) throw new Error(error.detail);
    if (!("result" in data)) throw new Error("The task did not end in time.");
    return data;
  }

  const accepted = await client.POST("/api/v2/dispatch", { body });
  if (accepted.error !== undefined) throw new Error(accepted.error.detail);
  const waited = await waitFor(body);
  const endless = { ...body, taskId: "openapi-fetch-2", message: "wait" };
  await client.POST("/api/v2/dispatch", { body: endless });
  const listed = await client.GET("/api/v2/tasks", { params: { query: { agentId: "writer", limit: 2 } } });
  await client.POST("/api/v2/tasks/{taskId}/cancel", { params: { path: { taskId: endless.taskId } } });
  const cancelled = await waitFor(endless);
  const refused = await client.GET("/api/v2/tasks/{taskId}", { params: { path: { taskId: "missing" } } });
  const events = await client.GET("/api/v2/tasks/{taskId}/events", { params: { path: { taskId: "openapi-fetch-1" } } });

  return {
    accepted: { taskId: accepted.data.taskId, state: accepted.data.state, location: accepted.response.headers.get("location") },
    waited: { state: waited.state, output: waited.result?.output },
    listed: (listed.data?.data ?? []).map(({ taskId }) => taskId),
    cancelled: cancelled.state,
    refused: refused.error?.code ?? "",
    events: events.data !== undefined && "meta" in events.data ? events.data.data.map(describe) : [],
  };
}

/** The type of an event determines the type of its data. */
const describe = (event: Schemas["Event"]): string =>
  event.type === "assistant.text" ? `${event.type} ${event.data.content}` : event.type;

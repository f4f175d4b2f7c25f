import { inParallel } from "./in-parallel.ts";
import type { DispatchedTask, Tenant } from "./orchestrator.ts";

/** Whether all tasks and callbacks have ended. */
export async function isCalm(address: string, tenants: readonly Tenant[]): Promise<boolean> {
  for (const tenant of tenants) {
    for (const list of ["tasks?state=queued", "tasks?state=running", "callbacks?state=pending"]) {
      const { data } = await get<{ data: unknown[] }>(`${address}/api/v2/${list}&limit=1`, tenant);
      if (data.length > 0) return false;
    }
  }
  return true;
}

/** Returns the result of each task from the API; undefined if the API does not know the task. */
export async function readResults(address: string, tasks: ReadonlyMap<string, DispatchedTask>): Promise<Map<string, unknown>> {
  const results = new Map<string, unknown>();
  await inParallel(tasks, async ([key, { tenant, taskId }]) => {
    const task = await get<{ result?: unknown }>(`${address}/api/v2/tasks/${taskId}`, tenant);
    results.set(key, task.result);
  });
  return results;
}

async function get<Body>(url: string, { token }: Tenant): Promise<Body> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  return (await response.json()) as Body;
}

import type { Task } from "../../task.ts";
import { toColumnText } from "../column-text.ts";
import type { SqliteDriver } from "../engines/sqlite/driver.ts";
import type { TaskStore } from "./interface.ts";

/** The operations of resume tokens, which tasks have returned. */
export function createResumeTokenOperations(driver: SqliteDriver) {
  return {
    isResumeTokenKnown: async ({ tenant, provider, agentId, token }) =>
      driver.get(
        "SELECT 1 AS known FROM resume_token WHERE tenant = ? AND provider = ? AND agent_id = ? AND token = ?",
        tenant,
        provider,
        agentId,
        toColumnText(token),
      ) !== undefined,
  } satisfies Partial<TaskStore>;
}

/** Stores a resume token inside the operation that ends its task. */
export function insertResumeToken(driver: SqliteDriver, { tenant, provider, agentId }: Task, token: string, now: number): void {
  driver.run(
    `INSERT INTO resume_token (tenant, provider, agent_id, token, used_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (tenant, provider, agent_id, token) DO UPDATE SET used_at = excluded.used_at`,
    tenant,
    provider,
    agentId,
    toColumnText(token),
    now,
  );
}

import { toColumnText } from "../column-text.ts";
import type { Reader } from "../engines/postgres/reader-pool.ts";
import { toStatement } from "../engines/postgres/to-statement.ts";
import type { TaskStore } from "./interface.ts";

/** Reads the resume tokens that tasks have returned. */
export function createResumeTokenReads(reader: Reader) {
  return {
    isResumeTokenKnown: async ({ tenant, provider, agentId, token }) =>
      (await reader.get(selectToken, tenant, provider, agentId, toColumnText(token))) !== undefined,
  } satisfies Partial<TaskStore>;
}

const selectToken = toStatement("SELECT 1 AS known FROM resume_token WHERE tenant = $1 AND provider = $2 AND agent_id = $3 AND token = $4");

import { pause } from "../pause.ts";
import type { Scenario } from "../scenario.ts";

/** Nothing happens, so every task has to end as it should. */
export const calm: Scenario = {
  name: "calm",
  leaseSeconds: 120,
  minCompleted: 0.75,
  async act({ times, query, onViolation }) {
    await pause(1000 + times(9000));
    const interrupted = await query<{ id: string }>(
      "SELECT id FROM task WHERE restarts > 0 OR result LIKE '%bridge_restarted%' OR state = 'running' AND node IS NULL",
    );
    for (const { id } of interrupted) onViolation(`calm: ${id} was interrupted`);
  },
};

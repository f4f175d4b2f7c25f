import type { AdapterModule } from "#contract";

export { sweepLeftovers } from "./process/sweep-processes.ts";

/** The adapters that ship with Bridge, by provider; nothing of one is loaded before it is asked for. */
export const catalogue: Readonly<Record<string, () => Promise<AdapterModule>>> = {
  claude: () => import("./claude/index.ts"),
  command: () => import("./command/index.ts"),
};

import { lookup } from "node:dns";
import type { AdapterConfig } from "#contract";

/** What Bridge hands to an adapter, for a test: it logs nothing, runs no children and says no to whoever asks. */
export function createAdapterConfig(dataDir: string, changes: Partial<AdapterConfig> = {}): AdapterConfig {
  const silent = () => {};
  return {
    settings: {},
    env: process.env,
    dataDir,
    retentionDays: 7,
    logger: { debug: silent, info: silent, warn: silent, error: silent },
    sandbox: null,
    fetch,
    lookup,
    runChild: () => Promise.reject(new Error("nobody runs child tasks here; give runChild")),
    describeProvider: () => null,
    listModels: async () => null,
    requestApproval: async () => ({ decision: "reject", reason: "Nobody answers here; give requestApproval." }),
    onOrphansKilled: silent,
    ...changes,
  };
}

import { lookup } from "node:dns";
import type { AdapterConfig } from "#contract";

/** The configuration of an adapter under test: it logs nothing, runs no child tasks and rejects every approval. */
export function createAdapterConfig(dataDir: string, changes: Partial<AdapterConfig> = {}): AdapterConfig {
  const silent = () => {};
  return {
    settings: {},
    env: process.env,
    dataDir,
    filesDir: dataDir,
    retentionDays: 7,
    logger: { debug: silent, info: silent, warn: silent, error: silent },
    sandbox: null,
    fetch,
    lookup,
    runChild: () => Promise.reject(new Error("this test runs no child tasks; pass runChild")),
    describeProvider: () => null,
    findLoadFailure: () => null,
    listModels: async () => null,
    requestApproval: async () => ({ decision: "reject", reason: "This test decides no approvals. Pass requestApproval." }),
    mayCallModel: async () => ({ allowed: true }),
    onModelLimited: silent,
    onOrphansKilled: silent,
    ...changes,
  };
}

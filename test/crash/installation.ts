import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { sweepLeftovers } from "../../adapters/shared/process/sweep-processes.ts";
import { type Tenant, taskKey } from "./orchestrator.ts";

/** One Bridge with a separate directory and two tenants. Its runtimes record each of their starts. */
export interface Installation {
  dataDir: string;
  databaseFile: string;
  tenants: readonly Tenant[];
  maxConcurrent: number;
  environment: Readonly<Record<string, string>>;
  /** Returns the number of starts of each task's runtime. */
  readStarts(): Map<string, number>;
  /** Removes all files and processes. */
  remove(): Promise<void>;
}

const MAX_CONCURRENT = 8;

/** Creates the directory and the settings of a Bridge that has not started yet. */
export function createInstallation(): Installation {
  const directory = mkdtempSync(path.join(tmpdir(), "bridge-crash-"));
  const dataDir = path.join(directory, "data");
  const tally = path.join(directory, "tally");
  const tokensFile = path.join(directory, "tokens.json");
  const tenants = ["default", "other"].map((tenant) => ({ tenant, token: randomBytes(24).toString("hex") }));
  // The handle of a task, and so its file in the tally, contains the tenant, unless it is the default one.
  const tallyOf = (tenant: string): string => (tenant === "default" ? tally : path.join(tally, tenant));
  for (const { tenant } of tenants) mkdirSync(tallyOf(tenant), { recursive: true });
  writeFileSync(tokensFile, JSON.stringify(tenants.map(describeToken)), { mode: 0o600 });

  function readStarts(): Map<string, number> {
    const starts = new Map<string, number>();
    for (const { tenant } of tenants) {
      for (const entry of readdirSync(tallyOf(tenant), { withFileTypes: true })) {
        if (!entry.isFile()) continue;
        const lines = readFileSync(path.join(tallyOf(tenant), entry.name), "utf8")
          .trimEnd()
          .split("\n");
        starts.set(taskKey(tenant, entry.name), lines.length);
      }
    }
    return starts;
  }

  return {
    dataDir,
    databaseFile: path.join(dataDir, "bridge.db"),
    tenants,
    maxConcurrent: MAX_CONCURRENT,
    environment: {
      BRIDGE_PORT: "0",
      BRIDGE_DATA_DIR: dataDir,
      BRIDGE_TOKENS_FILE: tokensFile,
      BRIDGE_ADAPTERS: "command",
      BRIDGE_COMMAND: JSON.stringify(["/bin/sh", path.join(import.meta.dirname, "agent.sh")]),
      BRIDGE_COMMAND_ENV: "CRASH_TALLY",
      CRASH_TALLY: tally,
      BRIDGE_MAX_CONCURRENT: String(MAX_CONCURRENT),
      BRIDGE_CALLBACK_ALLOW: "127.0.0.1",
      BRIDGE_CALLBACK_BACKOFF_MS: "20",
    },
    readStarts,
    async remove() {
      await sweepLeftovers({ dataDir });
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const describeToken = ({ tenant, token }: Tenant) => ({
  name: tenant,
  tenant,
  sha256: createHash("sha256").update(token).digest("hex"),
  scopes: ["dispatch", "read"],
});

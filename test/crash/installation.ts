import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { sweepLeftovers } from "../../adapters/shared/process/sweep-processes.ts";
import { type Tenant, taskKey } from "./orchestrator.ts";
import { createTestBudgetsFile, type TestBudgetsFile } from "./test-budgets.ts";

/**
 * The directories and the settings of one Bridge, or of several with one database. They have two tenants. Their runtimes keep a journal.
 */
export interface Installation {
  /** The data directory of the first Bridge. */
  dataDir: string;
  /** The data directories, one for each Bridge. */
  dataDirs: readonly string[];
  databaseFile: string;
  tenants: readonly Tenant[];
  maxConcurrent: number;
  budgets: TestBudgetsFile;
  /** The settings of the first Bridge. The others differ in their data directory. */
  environment: Readonly<Record<string, string>>;
  /** Returns what the runtimes of each task have recorded. */
  readJournals(): Map<string, JournalEntry[]>;
  /** Removes all files and processes. */
  remove(): Promise<void>;
}

/** What a runtime has recorded: that it has started, or that it still runs. */
export interface JournalEntry {
  word: "start" | "beat";
  pid: number;
  /** Seconds since the boot of the machine. */
  at: number;
  /** The data directory of its Bridge. */
  dataDir: string;
}

const MAX_CONCURRENT = 8;

/** Creates the directories and the settings of one or several Bridges that have not started yet. */
export function createInstallation(names: readonly string[] = ["data"], maxConcurrent = MAX_CONCURRENT): Installation {
  const directory = mkdtempSync(path.join(tmpdir(), "bridge-crash-"));
  const dataDirs = names.map((name) => path.join(directory, name));
  const dataDir = dataDirs[0] ?? directory;
  const tally = path.join(directory, "tally");
  const tokensFile = path.join(directory, "tokens.json");
  const tenants = ["default", "other"].map((tenant) => ({ tenant, token: randomBytes(24).toString("hex") }));
  // The handle of a task, and so its file in the tally, contains the tenant, unless it is the default one.
  const tallyOf = (tenant: string): string => (tenant === "default" ? tally : path.join(tally, tenant));
  for (const { tenant } of tenants) mkdirSync(tallyOf(tenant), { recursive: true });
  const budgets = createTestBudgetsFile(path.join(directory, "budgets.json"));
  writeFileSync(tokensFile, JSON.stringify(tenants.map(describeToken)), { mode: 0o600 });

  function readJournals(): Map<string, JournalEntry[]> {
    const journals = new Map<string, JournalEntry[]>();
    for (const { tenant } of tenants) {
      for (const entry of readdirSync(tallyOf(tenant), { withFileTypes: true })) {
        if (!entry.isFile()) continue;
        const lines = readFileSync(path.join(tallyOf(tenant), entry.name), "utf8").split("\n");
        journals.set(
          taskKey(tenant, entry.name),
          lines.slice(0, -1).map((line) => readJournalEntry(line, dataDirs)),
        );
      }
    }
    return journals;
  }

  return {
    dataDir,
    dataDirs,
    databaseFile: path.join(dataDir, "bridge.db"),
    tenants,
    maxConcurrent,
    budgets,
    environment: {
      BRIDGE_PORT: "0",
      BRIDGE_DATA_DIR: dataDir,
      BRIDGE_TOKENS_FILE: tokensFile,
      BRIDGE_BUDGETS_FILE: budgets.file,
      BRIDGE_ADAPTERS: "command",
      BRIDGE_COMMAND: JSON.stringify(["/bin/sh", path.join(import.meta.dirname, "agent.sh")]),
      BRIDGE_COMMAND_ENV: "CRASH_TALLY",
      CRASH_TALLY: tally,
      BRIDGE_MAX_CONCURRENT: String(maxConcurrent),
      BRIDGE_CALLBACK_ALLOW: "127.0.0.1",
      BRIDGE_CALLBACK_BACKOFF_MS: "20",
    },
    readJournals,
    async remove() {
      for (const each of dataDirs.filter((candidate) => existsSync(candidate))) await sweepLeftovers({ dataDir: each });
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function readJournalEntry(line: string, dataDirs: readonly string[]): JournalEntry {
  const [word, pid, at, temporary = ""] = line.split(" ");
  const dataDir = dataDirs.find((candidate) => temporary.startsWith(`${candidate}/`)) ?? temporary;
  return { word: word as JournalEntry["word"], pid: Number(pid), at: Number(at), dataDir };
}

const describeToken = ({ tenant, token }: Tenant) => ({
  name: tenant,
  tenant,
  sha256: createHash("sha256").update(token).digest("hex"),
  scopes: ["dispatch", "read", "approve"],
});

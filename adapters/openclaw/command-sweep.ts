import { hash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import type { AdapterConfig } from "#contract";
import { type Candidate, findProcesses } from "../shared/process/find-processes.ts";
import { readProc } from "../shared/process/process-table.ts";
import { sweep } from "../shared/process/sweep-processes.ts";

/** Clock ticks per second, the unit of start times in /proc. Linux uses this value on all common architectures. */
const TICKS_PER_SECOND = 100;
/** A variable that OpenClaw sets for every command that it runs. Child processes inherit it. */
const COMMAND_MARK = "OPENCLAW_SHELL=exec";

/**
 * Ends the commands that tasks leave running in a gateway on this host. Child processes of the gateway do not carry Bridge's marker, so a
 * process belongs to a task if it has OpenClaw's variable in its environment, runs in the task's workspace, and started after the task.
 * Commands of different tasks in one workspace cannot be distinguished, so the sweep runs after the last of these tasks.
 */
export interface CommandSweep {
  /** Records that a task starts in a workspace; returns the function to call at its end. */
  begin(workspace: string): Promise<() => Promise<void>>;
  /** Sweeps the workspaces whose tasks were interrupted by a crash of Bridge or an unreachable gateway. */
  sweepEarlier(): Promise<void>;
}

/** Options of the sweep. `readWorkspaces` returns the workspaces of OpenClaw's agents. */
export interface CommandSweepOptions extends Pick<AdapterConfig, "dataDir" | "logger" | "onOrphansKilled"> {
  readWorkspaces(): Promise<string[]>;
}

/** The stored record of a workspace in use. `since` is the uptime of the host in clock ticks, during the boot with the id `boot`. */
const usageRecordSchema = z.object({ workspace: z.string(), since: z.number(), boot: z.string() });
type UsageRecord = z.infer<typeof usageRecordSchema>;

/** Creates the sweep. It records the workspaces in use on disk, so that they can be swept after a crash of Bridge. */
export function createCommandSweep({ dataDir, logger, onOrphansKilled, readWorkspaces }: CommandSweepOptions): CommandSweep {
  const directory = path.join(dataDir, "workspaces-in-use");
  const fileOf = (workspace: string) => path.join(directory, hash("sha256", workspace));
  /** By workspace: the number of its running tasks, and the sweep after the last of them. */
  const uses = new Map<string, { count: number; sweepAtEnd: Promise<void> | null }>();

  async function sweepWorkspace({ workspace, since }: UsageRecord): Promise<void> {
    const file = fileOf(workspace);
    const isCommand = createCommandFilter(workspace, since);
    if ((await findProcesses(isCommand)).length > 0) {
      const shared = (await readWorkspaces()).find((other) => overlaps(resolveLinks(other), resolveLinks(workspace)));
      if (shared !== undefined) {
        logger.warn({ workspace, shared }, "left commands running because an OpenClaw agent shares the workspace");
      } else {
        const { killed, left } = await sweep(isCommand);
        if (killed > 0) onOrphansKilled(killed);
        if (left > 0) logger.warn({ workspace, processes: left }, "failed to kill commands of a task");
      }
    }
    rmSync(file, { force: true });
  }

  /** If the gateway is not connected, the sweep is repeated after the reconnect. */
  const trySweep = (record: UsageRecord): Promise<void> =>
    sweepWorkspace(record).catch((error: unknown) => {
      logger.warn({ workspace: record.workspace, reason: String(error) }, "failed to sweep the commands of a workspace");
    });

  /** Stores a record. If that fails, the task still runs, because the record is needed only after a crash of Bridge. */
  function storeRecord(record: UsageRecord): void {
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      writeFileSync(fileOf(record.workspace), JSON.stringify(record), { mode: 0o600 });
    } catch (error) {
      logger.warn({ workspace: record.workspace, reason: String(error) }, "failed to record a workspace in use");
    }
  }

  async function begin(workspace: string): Promise<() => Promise<void>> {
    for (let earlier = uses.get(workspace); earlier?.sweepAtEnd; earlier = uses.get(workspace)) await earlier.sweepAtEnd;
    const use = uses.get(workspace) ?? { count: 0, sweepAtEnd: null };
    uses.set(workspace, use);
    const record = readUsageRecord(fileOf(workspace)) ?? { workspace, since: readUptimeTicks(), boot: readBootId() };
    if (use.count === 0) storeRecord(record);
    use.count += 1;
    return async () => {
      use.count -= 1;
      if (use.count > 0) return;
      use.sweepAtEnd = trySweep(record).then(() => void uses.delete(workspace));
      await use.sweepAtEnd;
    };
  }

  return {
    begin,
    async sweepEarlier() {
      for (const name of readProc(() => readdirSync(directory)) ?? []) {
        const record = readUsageRecord(path.join(directory, name));
        if (record === null) rmSync(path.join(directory, name), { force: true });
        else if (!uses.has(record.workspace)) await (await begin(record.workspace))();
      }
    },
  };
}

/** Creates a filter for processes that OpenClaw started in a workspace at or after `since`, in clock ticks since the boot. */
function createCommandFilter(workspace: string, since: number): (candidate: Candidate) => boolean {
  const realWorkspace = resolveLinks(workspace);
  return ({ pid, process }) => {
    const environment = readProc(() => readFileSync(`/proc/${pid}/environ`, "utf8"))?.split("\0");
    if (environment?.includes(COMMAND_MARK) !== true) return false;
    // PWD is the directory in which a shell started or to which it changed. A daemon that calls chdir does not update it.
    const directories = [readProc(() => readlinkSync(`/proc/${pid}/cwd`)), environment.find((entry) => entry.startsWith("PWD="))?.slice(4)];
    return (
      directories.some((directory) => directory != null && isInside(realWorkspace, directory)) && Number(process?.startTime ?? -1) >= since
    );
  };
}

function readUsageRecord(file: string): UsageRecord | null {
  const text = readProc(() => readFileSync(file, "utf8"));
  try {
    const record = text === null ? null : usageRecordSchema.parse(JSON.parse(text));
    // Start times count from the boot, and no process survives a reboot.
    return record?.boot === readBootId() ? record : null;
  } catch {
    // The record is incomplete because Bridge was killed; its task had not started.
    return null;
  }
}

const readBootId = (): string => readProc(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()) ?? "";
const readUptimeTicks = (): number =>
  Math.floor(Number.parseFloat(readProc(() => readFileSync("/proc/uptime", "utf8")) ?? "0") * TICKS_PER_SECOND);
const resolveLinks = (file: string): string => readProc(() => realpathSync(file)) ?? path.resolve(file);
const isInside = (outer: string, inner: string): boolean => inner === outer || inner.startsWith(outer + path.sep);
const overlaps = (one: string, other: string): boolean => isInside(one, other) || isInside(other, one);

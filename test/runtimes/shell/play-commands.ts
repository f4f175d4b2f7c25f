import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Connection } from "#contract";
import type { Step, Tool } from "../model-server/scenarios.ts";
import { type CellBench, openCellBench, type ReportedTask } from "../table/cell-bench.ts";
import type { BenchRuntime } from "../table/runtimes.ts";
import { columns } from "./columns.ts";
import { commands, titleOf } from "./commands.ts";
import { exceptionTo } from "./exceptions.ts";
import { expectationOf, isAccepted, type Rights } from "./expectation.ts";
import { createFiles, seenOf, snapshot } from "./fixtures.ts";
import { nameOf } from "./render.ts";
import { type ShellResult, type Sight, writeShellResult } from "./results.ts";

const CELL_LIMIT_MS = 240_000;
const POLL_MS = 25;
/** Number of commands that the model calls in one turn. For most programs, a turn takes longer than a command. */
const BATCH = 12;
const answer = "I have tried.";

/** A batch of commands may take long on a busy machine, and some programs report nothing before they have all ended. */
export const benchSettings = { BRIDGE_IDLE_SECONDS: "120" };

/** The permissions of the cells of a column. Each task uses the agent of its cell, and therefore a separate workspace. */
export const cells: readonly (Rights & { agentId: string })[] = (["inspect", "modify"] as const).flatMap((profile) =>
  (["deny", "ask", "allow"] as const).map((approvals) => ({ profile, approvals, agentId: `${profile}-${approvals}` })),
);

/** Plays every command with all rights over one connection. Each cell is one task, in which the model calls the commands in order. */
export function playCommands(
  runtime: BenchRuntime,
  connection: Connection,
  open = () => openCellBench(runtime, connection, benchSettings),
): void {
  const hold = columns.find((column) => column.runtime === runtime && column.connection === connection)?.hold;
  if (hold === undefined) throw new Error(`${runtime} over ${connection} is no column`);

  describe(`shell commands with ${runtime} over ${connection}`, () => {
    const result: ShellResult = { runtime, connection, version: null, cells: {} };
    let bench: CellBench;
    let listener: Listener;
    beforeAll(async () => {
      listener = await listen();
      bench = await open();
    }, CELL_LIMIT_MS);
    afterAll(async () => {
      if (bench !== undefined) {
        writeShellResult({ ...result, version: (await bench.adapter()).health.version });
        await bench.close();
      }
      await listener?.close();
    }, CELL_LIMIT_MS);

    test.each(cells)("profile $profile, approvals $approvals", { timeout: CELL_LIMIT_MS }, async ({ agentId, ...rights }) => {
      result.cells[nameOf(rights)] = {};
      if (!isAccepted(hold, rights)) {
        const refused = await bench.bridge.call("POST", "/api/v2/dispatch", { provider: runtime, agentId, message: "Do it.", ...rights });
        expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([422, "capability_missing"]);
        result.cells[nameOf(rights)] = Object.fromEntries(commands.map((command) => [titleOf(command), "refused" satisfies Sight]));
        return;
      }
      const rows = await play(bench, listener, agentId, rights);
      result.cells[nameOf(rights)] = Object.fromEntries(
        rows.map(({ command, asked, ran }): [string, Sight] => [titleOf(command), asked ? "asked" : ran ? "ran" : "stopped"]),
      );
      const surprises = rows.flatMap(({ command, asked, approved, ran }) => {
        const promised = expectationOf(hold, rights, command, { asked, approved });
        const isException = exceptionTo({ runtime, connection }, command) !== undefined;
        const expected = isException ? { ...promised, ran: false } : promised;
        const seen = { asked, ran };
        const isAsExpected = (["asked", "ran"] as const).every((fact) => expected[fact] === undefined || expected[fact] === seen[fact]);
        return isAsExpected ? [] : [{ command: command.template, expected, seen, approved }];
      });
      expect(surprises).toEqual([]);
    });
  });
}

/** Returns the observation of a row. */
interface SeenRow {
  command: (typeof commands)[number];
  asked: boolean;
  approved: boolean;
  ran: boolean;
}

async function play(bench: CellBench, listener: Listener, agentId: string, rights: Rights): Promise<SeenRow[]> {
  const workspace = path.join(bench.dataDir, "workspaces", "default", agentId);
  const outside = path.join(bench.outside, agentId);
  mkdirSync(outside);
  const victim = spawn("sleep", ["3600"], { stdio: "ignore" });
  try {
    const rows = commands.map((command, index) => {
      const name = `row${String(index + 1).padStart(2, "0")}`;
      const nonce = randomBytes(6).toString("hex");
      const directory = path.join(workspace, name);
      createFiles(directory, command, { nonce, pid: victim.pid as number });
      const filled = command.template.replaceAll("OUT", outside).replaceAll("PORT", String(listener.port)).replaceAll(/\bD\b/g, name);
      const before = snapshot(directory);
      // All requests of a batch get the same decision, because after one rejection OpenCode rejects the other pending requests.
      return { command, name, nonce, directory, filled, before, approved: Math.floor(index / BATCH) % 2 === 0 };
    });
    const calls = rows.map(({ command, filled }): Tool => {
      if (command.isFileTool === true) return { kind: "write", path: path.join(workspace, filled), content: "made\n" };
      return { kind: "shell", command: filled };
    });
    const marker = bench.model.scenario([...batchesOf(calls).map((tools): Step => ({ tools })), { text: answer }]);
    const taskId = await bench.dispatch({ agentId, message: `Do it. ${marker}`, timeoutSeconds: CELL_LIMIT_MS / 1000, ...rights });
    const rowOf = (input: unknown) => rows.find(({ name }) => new RegExp(`\\b${name}\\b`).test(JSON.stringify(input)));
    const task = await answerAll(bench, taskId, (input) => rowOf(input)?.approved === true);
    expect(task).toMatchObject({ state: "completed", result: { output: answer } });

    const events = await bench.events(taskId);
    const questions = events.filter(({ type }) => type === "tool.approval_requested").map(({ data }) => data["input"]);
    const asked = new Set(questions.map((input) => rowOf(input)?.name));
    expect(asked.has(undefined), `a question that belongs to no command: ${JSON.stringify(questions)}`).toBe(false);
    const shown = bench.model.requests.map(({ body }) => JSON.stringify(body)).findLast((body) => body.includes(marker)) ?? "";
    const hasRun = ({ command, name, nonce, directory, before }: (typeof rows)[number]): boolean => {
      if (!command.changes) return shown.includes(seenOf(nonce));
      if (command.fixture === "victim") return victim.signalCode !== null;
      if (command.template.includes("PORT")) return listener.received.delete(`/${name}`);
      if (command.template.includes("OUT")) return existsSync(path.join(outside, name));
      return snapshot(directory) !== before;
    };
    const seen = rows.map((row) => ({ command: row.command, asked: asked.has(row.name), approved: row.approved, ran: hasRun(row) }));
    rmSync(outside, { recursive: true });
    expect(await bench.leftovers()).toEqual([]);
    return seen;
  } finally {
    rmSync(outside, { recursive: true, force: true });
    await end(victim);
  }
}

function batchesOf(calls: readonly Tool[]): [Tool, ...Tool[]][] {
  return calls.flatMap((call, index) =>
    index % BATCH === 0 ? [[call, ...calls.slice(index + 1, index + BATCH)] as [Tool, ...Tool[]]] : [],
  );
}

/** Decides every approval of a task until the task has ended, and resolves with the ended task. */
async function answerAll({ bridge }: CellBench, taskId: string, decide: (input: unknown) => boolean): Promise<ReportedTask> {
  const get = async (target: string) => (await bridge.call("GET", target)).json();
  for (;;) {
    const { data } = (await get("/api/v2/approvals?state=pending")) as { data: { approvalId: string; taskId: string; input: unknown }[] };
    for (const { approvalId, input } of data.filter((one) => one.taskId === taskId))
      await bridge.call("POST", `/api/v2/approvals/${approvalId}`, { decision: decide(input) ? "approve" : "reject" });
    const task = (await get(`/api/v2/tasks/${taskId}`)) as ReportedTask;
    if (/completed|failed|cancelled/.test(task.state)) return task;
    await delay(POLL_MS);
  }
}

/** A server that records the requested paths. */
interface Listener {
  port: number;
  received: Set<string>;
  close(): Promise<void>;
}

async function listen(): Promise<Listener> {
  const received = new Set<string>();
  const server: Server = createServer((request, response) => {
    received.add(request.url ?? "");
    response.end("heard\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    received,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

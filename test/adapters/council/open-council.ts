import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll } from "vitest";
import { type BridgeProgram, dispatchTask, startBridgeProgram, taskInState } from "../../support/bridge-program.ts";

const player = path.resolve(import.meta.dirname, "../../fixtures/programs/role-player.js");
export const expert = "Application Security Engineer";
export const finding = (severity: string, title: string, more: object = {}) => ({
  type: "finding",
  severity,
  title,
  description: `All about: ${title}.`,
  evidence: "login.ts:7",
  action: "Mend it.",
  ...more,
});
const input = {
  session_id: "login-review",
  scope: "login.ts and session.ts",
  task_description: "Review the login.",
  task_type: "review",
  domains: ["security"],
  context_summary: "A web service.",
  intensity: "standard",
  provider: "command",
};

/** Starts a Bridge whose command adapter plays the roles as scripted in a file. */
export async function startBridge(dataDir: string, environment: Record<string, string> = {}, atEnd?: (act: () => void) => void) {
  const files = { ROLES: path.join(dataDir, "roles.json"), JOURNAL: path.join(dataDir, "journal.jsonl") };
  const settings = {
    BRIDGE_ADAPTERS: "command,bridge-codex,deep-council",
    BRIDGE_COMMAND: JSON.stringify([process.execPath, player]),
    BRIDGE_COMMAND_ENV: "ROLES,JOURNAL",
    ...files,
    ...environment,
  };
  const start = () => startBridgeProgram(dataDir, settings, atEnd);
  return { dataDir, ...files, start, bridge: await start() };
}

let shared: Awaited<ReturnType<typeof startBridge>>;

/** Starts one Bridge for all councils of a test file that need no other settings. */
export function shareBridge(): void {
  const ends: (() => void)[] = [];
  beforeAll(async () => {
    const dataDir = mkdtempSync(path.join(tmpdir(), "bridge-test-"));
    ends.push(() => rmSync(dataDir, { recursive: true, force: true }));
    shared = await startBridge(dataDir, {}, (act) => void ends.push(act));
  });
  afterAll(async () => {
    // Stops Bridge before its data directory is removed.
    ends.pop()?.();
    await shared.bridge.exited;
    ends.pop()?.();
  });
}

let councils = 0;

/** Prepares a council whose roles answer with these lines. */
export async function openCouncil(lines: object, own?: Awaited<ReturnType<typeof startBridge>>) {
  const { bridge, start, dataDir, ROLES, JOURNAL } = own ?? shared;
  councils += 1;
  const taskId = `c${councils}`;
  writeFileSync(ROLES, JSON.stringify(lines));
  writeFileSync(JOURNAL, "");
  const workspace = path.join(dataDir, "workspaces/default", taskId);
  return {
    bridge,
    start,
    taskId,
    workspace,
    input,
    ended: async (state: string, of: Pick<BridgeProgram, "call"> = bridge, id = taskId) =>
      resultOf(await taskInState(of, id, state, 40_000)),
    asked: () =>
      readFileSync(JOURNAL, "utf8")
        .split("\n")
        .filter(Boolean)
        .map(
          (line) =>
            JSON.parse(line) as {
              role: string;
              round: number;
              profile: string;
              reasoningLevel?: string;
              asksAgain: boolean;
              message: string;
            },
        ),
    /** Reads the event log of the council. */
    eventLog(directory = ".outputs/bridges") {
      const name = readdirSync(path.join(workspace, directory)).find((file) => file.endsWith(".jsonl")) ?? "";
      const lines = readFileSync(path.join(workspace, directory, name), "utf8")
        .trim()
        .split("\n");
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    dispatch: (changes: object = {}, fields: object = {}) =>
      dispatchTask(bridge, {
        taskId,
        provider: "bridge-codex",
        agentId: taskId,
        bridgeInput: { ...input, ...changes },
        ...fields,
      }),
  };
}
type Task = {
  state: string;
  result: { status: string; output: string; outputs: unknown; usage: object; costUsd: number; errorCode?: string; error?: string };
};
const resultOf = (task: Record<string, unknown>) => (task as unknown as Task).result;

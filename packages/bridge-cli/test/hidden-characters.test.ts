import { writeFile } from "node:fs/promises";
import path from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startReceiver } from "../../../test/support/start-receiver.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { runCli, runOnTerminal, startOnTerminal } from "./start-cli.ts";

/**
 * What an agent can write to change what a terminal shows: it moves the cursor and erases (ESC, C1), sets the clipboard and the title
 * (OSC), overwrites the line, reverses text, and ends lines.
 */
const HOSTILE =
  "x\u001b[40A\u001b[0J\u009b2J\u001b]52;c;ZXZpbA==\u0007\u009d0;title\u009c\rover\b\u202eright\u2066to\u2069left\u2028\u2029\u0085\u200b\ufeff\u007f\u{e0041}\u3164\u115f\u2800\u034f\ufe01\u{e0101}y";
const at = "2026-01-02T03:04:05.000Z";
const task = {
  ...{ taskId: HOSTILE, parentTaskId: HOSTILE, provider: HOSTILE, agentId: HOSTILE, state: "failed", waitingOn: null, node: HOSTILE },
  ...{ title: HOSTILE, model: HOSTILE, usage: null, costUsd: null, errorCode: HOSTILE, labels: { [HOSTILE]: HOSTILE }, createdAt: at },
  ...{ startedAt: at, finishedAt: at, callback: null, metadata: null },
  result: { status: "error", output: `${HOSTILE}\n${HOSTILE}`, error: HOSTILE, resumeToken: HOSTILE, errorCode: HOSTILE },
};
const health = {
  ...{ status: "degraded", connection: HOSTILE, version: HOSTILE, detail: HOSTILE, checkedAt: at },
  preflight: [{ step: HOSTILE, ok: false, detail: HOSTILE }],
};
const callback = {
  taskId: HOSTILE,
  url: HOSTILE,
  state: "dead",
  attempts: 1,
  nextAttemptAt: at,
  lastStatus: 1,
  lastError: HOSTILE,
  updatedAt: at,
};
const approval = {
  ...{ approvalId: HOSTILE, taskId: HOSTILE, agentId: HOSTILE, provider: HOSTILE, title: HOSTILE, toolName: HOSTILE, state: "pending" },
  ...{ input: { [HOSTILE]: HOSTILE }, createdAt: at, expiresAt: at, decidedBy: HOSTILE, reason: HOSTILE },
};
const diff = {
  ...{
    commit: "0".repeat(40),
    directory: "",
    truncated: HOSTILE,
    omitted: [HOSTILE],
    diffBase64: Buffer.from("\xff", "latin1").toString("base64"),
  },
  diff: `diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@${HOSTILE}\n-${HOSTILE}\n+${HOSTILE}\n+++ b/harmless.txt\n`,
};
const list = (...data: object[]) => ({ data, meta: { nextCursor: null } });
const problem = { code: "invalid_request", detail: HOSTILE, errors: [{ path: HOSTILE, message: HOSTILE }] };

/** The answers of a Bridge whose agents are hostile. All other requests fail with a hostile problem. */
const answers: Record<string, object> = {
  "GET /api/v2/tasks": list(task),
  "GET /api/v2/tasks/t": task,
  "GET /api/v2/tasks/t/request": { request: { message: HOSTILE, profile: "inspect", approvals: "ask" }, masked: [] },
  "GET /api/v2/tasks/t/diff": diff,
  "GET /api/v2/tasks/omits/diff": { ...diff, truncated: null },
  "GET /api/v2/tasks/t/files": list({ path: HOSTILE, bytes: 1, modifiedAt: at }),
  "GET /api/v2/tasks/t/files/f": { [HOSTILE]: HOSTILE },
  "GET /api/v2/adapters": list({ provider: "a", health, running: 0, queued: 0, maxConcurrent: 1 }),
  "POST /api/v2/adapters/a/check": { provider: "a", health, running: 0, queued: 0, maxConcurrent: 1 },
  "GET /api/v2/domains": {
    data: [{ name: HOSTILE, source: "workspace", expert: HOSTILE, signals: [HOSTILE] }],
    meta: { nextCursor: null, settingsFault: HOSTILE },
  },
  "GET /api/v2/approvals": list(approval),
  "POST /api/v2/approvals/a": approval,
  "GET /api/v2/callbacks": list(callback),
  "GET /api/v2/callbacks/t": {
    ...callback,
    history: [{ number: 1, at, status: 1, error: HOSTILE, durationMs: 1, response: HOSTILE, responseTruncated: false }],
  },
  "GET /api/v2/me": { name: HOSTILE, tenant: HOSTILE, scopes: ["read", HOSTILE], expiresAt: null },
  "GET /": { name: "Bridge", version: HOSTILE },
  "POST /api/v2/dispatch": { taskId: "t", replayed: false },
};
const event = { eventId: "1", taskId: HOSTILE, type: "execution.failed", timestamp: at, data: { errorCode: HOSTILE, error: HOSTILE } };

let server: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  server = await startReceiver((response, request) => {
    const [name = ""] = (request.url ?? "").split("?");
    if (name.endsWith("/events")) {
      response.setHeader("content-type", "text/event-stream").write(`id: 1\ndata: ${JSON.stringify(event)}\n\n`);
      return;
    }
    const answer = answers[`${request.method} ${name}`];
    response.setHeader("content-type", answer === undefined ? "application/problem+json" : "application/json");
    response.writeHead(answer === undefined ? 400 : 200).end(JSON.stringify(answer ?? problem));
  });
});
afterAll(() => server.close());
const env = () => ({ BRIDGE_URL: server.origin, BRIDGE_TOKEN: "any" });

/** The sequences that `bridge` itself writes: colors, the status line and the screen of `--watch`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that the test looks for.
const OWN_SEQUENCES = /\u001b\[\d{1,2}m|\r\u001b\[2K|\u001b\[\?1049[hl]|\u001b\[[HKJ]|\r(?=\n)/g;
const HIDDEN = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

function expectNothingHidden(shown: string): void {
  const rest = shown.replaceAll(OWN_SEQUENCES, "");
  expect(HIDDEN.exec(rest)?.[0].codePointAt(0)?.toString(16), rest).toBeUndefined();
  expect(rest).toMatch(/␛\[40A|\\u001b\[40A/);
}

test.each([
  ...["tasks", "task t", "task t --watch", "wait t", "diff t", "files t", "files t f", "files t missing", "cancel missing", "ui"],
  ...["adapters", "adapters a", "adapters a --check", "domains a", "approvals", "approve a", "reject missing", "callbacks", "callbacks t"],
  ...["callbacks missing", "redeliver t", "dispatch -a a --id t text", "dispatch -a a text --dry-run", "usage", "version", "doctor"],
  ...["task t --json", "approvals --json", "usage --json", "diff t --json"],
])("bridge %s shows no hidden character of an agent on a terminal", async (command) => {
  const { shown } = await runOnTerminal(command.split(" "), { env: env() });
  expectNothingHidden(shown);
});

test.each(["tail", "approvals watch", "tasks --watch"])("bridge %s shows no hidden character while it follows", async (command) => {
  const cli = await startOnTerminal(command.split(" "), { env: env() });
  await cli.waitFor(/␛\[40A/);
  cli.type("\u0003");
  await cli.exited;
  expectNothingHidden(cli.shown());
});

test("brg apply shows no hidden character of a name, and brg dispatch --from none of a line", async () => {
  const directory = await temporaryDirectory();
  await execa("git", ["init", "-q"], { cwd: directory });
  const applied = await runOnTerminal(["apply", "omits"], { env: env(), cwd: directory });
  expectNothingHidden(applied.shown);
  await writeFile(path.join(directory, "batch.jsonl"), `{"agentId": ${HOSTILE}\n`);
  const batch = await runOnTerminal(["dispatch", "--from", "batch.jsonl"], { env: env(), cwd: directory });
  expect(batch.exitCode).toBe(2);
  expectNothingHidden(batch.shown);
});

test("the colors of a diff distinguish a changed line from a header that it imitates", async () => {
  const { shown } = await runOnTerminal(["diff", "t"], { env: env() });
  expect(shown).toContain("\u001b[1m+++ b/x\u001b[22m");
  expect(shown).toContain("\u001b[32m+++ b/harmless.txt\u001b[39m");
});

test("stderr shows no hidden character even if it is a file, and stdout in a pipe has the exact characters", async () => {
  const failed = await runCli(["usage"], { env: env() });
  expectNothingHidden(failed.stderr);
  const asJson = await runCli(["usage", "--json"], { env: env() });
  expectNothingHidden(asJson.stderr);
  expect(JSON.parse(asJson.stderr)).toMatchObject({ detail: HOSTILE });
  const { stdout } = await runCli(["task", "t", "--json"], { env: env() });
  expect(stdout).toContain(JSON.stringify(HOSTILE));
  expect(Buffer.from((await runCli(["diff", "t"], { env: env() })).stdout)).toEqual(Buffer.from("\ufffd"));
});

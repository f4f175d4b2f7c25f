import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { ExecutionRequest } from "#contract";
import { cliConnection } from "../../../adapters/opencode/cli.ts";
import { httpApiConnection } from "../../../adapters/opencode/http-api.ts";
import { permissionsOf } from "../../../adapters/opencode/permissions.ts";
import type { ProgramConnection, ProgramTask } from "../../../adapters/shared/agent-program/agent-program.ts";
import { temporaryDirectory } from "../../temporary-directory.ts";
import { contextOf, requestIn, rulesOf } from "./fixtures.ts";
import { createScriptedServer, type ScriptedBehaviour } from "./scripted-server.ts";

interface Given {
  root?: string;
  changes?: Partial<ExecutionRequest>;
  onTool?: (cancel: () => void) => void;
  settings?: object;
}

/** Runs a task where the program is this shell script; `$seen` is where it leaves what it has seen. */
async function runScript(connection: ProgramConnection, script: string, { changes = {}, onTool = () => {}, ...given }: Given = {}) {
  const root = given.root ?? (await temporaryDirectory());
  const request = requestIn(path.join(root, "workspace"), { message: "the message", ...changes });
  for (const directory of Object.values(request.directories)) mkdirSync(directory, { recursive: true });
  const program = path.join(root, "opencode");
  const seen = path.join(root, "seen");
  writeFileSync(program, `#!/bin/sh\nseen="${seen}"; recorded="${path.join(import.meta.dirname, "recorded")}"\n${script}\n`, {
    mode: 0o755,
  });
  const cancel = new AbortController();
  const told: string[] = [];
  const task: ProgramTask = {
    request,
    context: contextOf(given.settings, { ANTHROPIC_API_KEY: "k", PATH: process.env["PATH"] }),
    story: {
      say: (text: string) => told.push(text),
      invokeTool: () => onTool(() => cancel.abort()),
      completeTool: () => {},
      keep: () => {},
      discard: () => {},
      progress: () => {},
    } as unknown as ProgramTask["story"],
    signal: cancel.signal,
    totals: {} as ProgramTask["totals"],
  };
  const ending = await connection.execute(task, [program]);
  return { ending, told, request, seen: existsSync(seen) ? readFileSync(seen, "utf8") : "" };
}

describe("opencode over cli", () => {
  test("gets the prompt by stdin, which ends, and its options without a word of the dispatch in them (trap 3)", async () => {
    const script = 'echo "$@" > "$seen"; cat >> "$seen"; cat "$recorded/run-tool.jsonl"';
    const { ending, told, seen, request } = await runScript(cliConnection, script, {
      changes: { model: "anthropic/opus", systemPrompt: "Be brief." },
    });
    expect(ending).toMatchObject({ status: "ok", resumeToken: expect.stringMatching(/^ses_/), model: "anthropic/opus", costUsd: 0.00036 });
    expect(told).toEqual(["I run it.", "It said hi."]);
    const [options, ...prompt] = seen.split("\n");
    expect(options).toBe(`run --format json --agent bridge --dir=${request.directories.cwd} --title Bridge --model=anthropic/opus`);
    expect(prompt.join("\n")).toMatch(/the message$/);
  });

  test("goes on with a session", async () => {
    const { seen } = await runScript(cliConnection, 'echo "$@" > "$seen"; cat "$recorded/run-resumed.jsonl"', {
      changes: { resumeToken: "ses_1" },
    });
    expect(seen).toMatch(/ --session=ses_1$/m);
  });

  test("takes no model for a flag, also where the operator's own home allows every provider", async () => {
    const { seen } = await runScript(cliConnection, 'for each in "$@"; do echo "$each"; done > "$seen"; cat "$recorded/run-tool.jsonl"', {
      settings: { home: "user" },
      changes: { model: "--attach=http://host.test/" },
    });
    expect(seen.split("\n")).toContain("--model=--attach=http://host.test/");
    expect(seen).not.toMatch(/^--attach/m);
  });

  test("leaves what it unpacks in the task's own TMPDIR (trap 14)", async () => {
    const { request, seen } = await runScript(cliConnection, 'printf %s "$TMPDIR" > "$seen"; touch "$TMPDIR/unpacked.so"');
    expect(seen).toBe(request.directories.tmp);
    expect(existsSync(path.join(request.directories.tmp, "unpacked.so"))).toBe(true);
  });

  test("writes to a file, for it does not wait at its exit until a pipe has been read", async () => {
    expect((await runScript(cliConnection, 'test -f /dev/stdout && echo file > "$seen"')).seen).toBe("file\n");
  });

  test("is ended from outside when its model never stops calling tools (trap 15)", async () => {
    const script = 'while cat "$recorded/run-two-tools.jsonl"; do sleep 0.1; done';
    const { ending } = await runScript(cliConnection, script, { onTool: (cancel) => cancel() });
    expect(ending).toMatchObject({ status: "error", errorCode: "cancelled" });
  });

  test.each([
    // Trap 11: the program exits with 0, and the agent that it fell back to may do everything.
    ['agent "bridge" not found. Falling back to default agent', 0, "adapter_error", /did not take its agent/],
    ["Error: Session not found", 1, "adapter_error", /does not know the session/],
    ["Segmentation fault", 139, "runtime_crashed", /139.*Segmentation fault/],
    // Trap 11b: nothing is said, and nothing is done.
    ["", 0, "model_error", /before the model had given its answer/],
  ])("that says %j and exits with %i is %s", async (stderr, exitCode, errorCode, error) => {
    const { ending } = await runScript(cliConnection, `echo '${stderr}' >&2; exit ${exitCode}`);
    expect(ending).toMatchObject({ status: "error", errorCode, error: expect.stringMatching(error) });
  });
});

describe("opencode over http-api", () => {
  /** What a task comes to whose program says that this server is its own. */
  const serve = async (behaviour: Partial<ScriptedBehaviour>, given: Given = {}, before = ":") => {
    const root = await temporaryDirectory();
    const rules = rulesOf(permissionsOf(requestIn(path.join(root, "workspace")), null, "http-api"));
    const { origin, session } = await createScriptedServer({ recording: "tool", rules, ...behaviour });
    const script = `echo "$@ $OPENCODE_SERVER_PASSWORD" > "$seen"; cat; ${before}; echo "opencode server listening on ${origin}"; exec sleep 60`;
    return { session, ...(await runScript(httpApiConnection, script, { ...given, root })) };
  };

  test("starts a server with its stdin at an end, talks to it, and ends it (trap 3)", async () => {
    const { ending, told, session, seen } = await serve({});
    const usage = { inputTokens: 260, outputTokens: 60, thinkingTokens: 10, cacheReadTokens: 40, cacheWriteTokens: 0 };
    expect(ending).toEqual({ status: "ok", resumeToken: session, model: "scripted/model", usage, costUsd: 0.00036 });
    expect(told.join("")).toBe("I run it.It said hi.");
    // A password of its own, which is not among the arguments.
    expect(seen).toMatch(/^serve --hostname 127\.0\.0\.1 --port 0 [\w-]{43}\n$/);
    expect((await serve({})).seen).not.toBe(seen);
  });

  test("that is cancelled knows its session", async () => {
    const { ending, session } = await serve({ recording: "asked", until: '"permission.asked"' }, { onTool: (cancel) => cancel() });
    expect(ending).toMatchObject({ status: "error", errorCode: "cancelled", resumeToken: session });
  });

  test("that is cancelled while its answer comes in is cancelled", async () => {
    expect((await serve({}, { onTool: (cancel) => cancel() })).ending).toMatchObject({ status: "error", errorCode: "cancelled" });
  });

  test("tells what went wrong in the conversation, not how the server was ended", async () => {
    expect((await serve({ recording: "error-401" })).ending).toMatchObject({ errorCode: "authentication_required" });
    expect((await serve({ rules: [] })).ending).toMatchObject({
      errorCode: "adapter_error",
      error: expect.stringContaining("rules of the task"),
    });
  });

  test.each([
    ["echo 'no port is free' >&2; exit 1", "runtime_crashed", /exited with code 1\. no port is free/],
    ["kill -9 $$", "runtime_crashed", /SIGKILL/],
  ])("with a server that does not come up: %s", async (script, errorCode, error) => {
    const { ending } = await runScript(httpApiConnection, script);
    expect(ending).toEqual({ status: "error", errorCode, error: expect.stringMatching(error) });
  });

  test("speaks to no server but on the loopback interface", async () => {
    const elsewhere = await createScriptedServer({ recording: "tool", rules: [] });
    const line = `echo "opencode server listening on ${elsewhere.origin.replace("127.0.0.1", "localhost")}"`;
    const { ending } = await runScript(httpApiConnection, `${line}; exit 1`);
    expect(ending).toMatchObject({ errorCode: "runtime_crashed" });
    expect((await serve({}, {}, line)).ending).toMatchObject({ status: "ok" });
    expect(elsewhere.calls).toEqual([]);
  });
});

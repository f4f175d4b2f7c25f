import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { ExecutionRequest } from "#contract";
import { cliConnection } from "../../../adapters/opencode/cli.ts";
import { httpApiConnection } from "../../../adapters/opencode/http-api.ts";
import { createPermissions } from "../../../adapters/opencode/permissions.ts";
import type { ProgramConnection, ProgramTask } from "../../../adapters/shared/agent-program/agent-program.ts";
import { createExecutionRequest } from "../../conformance/execution-request.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { contextOf, rulesOf } from "./fixtures.ts";
import { createScriptedServer, type ServerBehavior } from "./scripted-server.ts";

interface Given {
  root?: string;
  changes?: Partial<ExecutionRequest>;
  onTool?: (cancel: () => void) => void;
  settings?: object;
}

/** Runs a task with this shell script as the program. The script writes what the test reads to `$seen`. */
async function runScript(connection: ProgramConnection, script: string, { changes = {}, onTool = () => {}, ...given }: Given = {}) {
  const root = given.root ?? (await temporaryDirectory());
  const request = createExecutionRequest(path.join(root, "workspace"), { message: "the message", ...changes });
  for (const directory of Object.values(request.directories)) mkdirSync(directory, { recursive: true });
  const program = path.join(root, "opencode");
  const seen = path.join(root, "seen");
  writeFileSync(program, `#!/bin/sh\nseen="${seen}"; recorded="${path.join(import.meta.dirname, "recorded")}"\n${script}\n`, {
    mode: 0o755,
  });
  const cancel = new AbortController();
  const texts: string[] = [];
  const task: ProgramTask = {
    request,
    context: contextOf(given.settings, { ANTHROPIC_API_KEY: "k", PATH: process.env["PATH"] }),
    timeline: {
      appendText: (text: string) => texts.push(text),
      startTool: () => onTool(() => cancel.abort()),
      finishTool: () => {},
      keepText: () => {},
      discardText: () => {},
      reportProgress: () => {},
      reportUsage: () => {},
    } as unknown as ProgramTask["timeline"],
    signal: cancel.signal,
    totals: {} as ProgramTask["totals"],
  };
  const ending = await connection.execute(task, [program]);
  return { ending, texts, request, seen: existsSync(seen) ? readFileSync(seen, "utf8") : "" };
}

describe("opencode over cli", () => {
  test("opencode over cli reads the prompt from stdin until its end, and gets no text of the dispatch as arguments", async () => {
    const script = 'echo "$@" > "$seen"; cat >> "$seen"; cat "$recorded/run-tool.jsonl"';
    const { ending, texts, seen, request } = await runScript(cliConnection, script, {
      changes: { model: "anthropic/opus", systemPrompt: "Be brief." },
    });
    expect(ending).toMatchObject({ status: "ok", resumeToken: expect.stringMatching(/^ses_/), model: "anthropic/opus", costUsd: 0.00036 });
    expect(texts).toEqual(["I run it.", "It said hi."]);
    const [options, ...prompt] = seen.split("\n");
    expect(options).toBe(
      `run --print-logs --log-level=WARN --format json --agent bridge --dir=${request.directories.cwd} --title Bridge --model=anthropic/opus`,
    );
    expect(prompt.join("\n")).toMatch(/the message$/);
  });

  test("opencode over cli resumes a session", async () => {
    const { seen } = await runScript(cliConnection, 'echo "$@" > "$seen"; cat "$recorded/run-resumed.jsonl"', {
      changes: { resumeToken: "ses_1" },
    });
    expect(seen).toMatch(/ --session=ses_1$/m);
  });

  test("opencode over cli does not parse a model as a flag when home: user allows every provider", async () => {
    const { seen } = await runScript(cliConnection, 'for each in "$@"; do echo "$each"; done > "$seen"; cat "$recorded/run-tool.jsonl"', {
      settings: { home: "user" },
      changes: { model: "--attach=http://host.test/" },
    });
    expect(seen.split("\n")).toContain("--model=--attach=http://host.test/");
    expect(seen).not.toMatch(/^--attach/m);
  });

  test("opencode over cli unpacks its libraries into the task's TMPDIR", async () => {
    const { request, seen } = await runScript(cliConnection, 'printf %s "$TMPDIR" > "$seen"; touch "$TMPDIR/unpacked.so"');
    expect(seen).toBe(request.directories.tmp);
    expect(existsSync(path.join(request.directories.tmp, "unpacked.so"))).toBe(true);
  });

  test("opencode over cli writes its output to a file, because it exits before a pipe has been read", async () => {
    expect((await runScript(cliConnection, 'test -f /dev/stdout && echo file > "$seen"')).seen).toBe("file\n");
  });

  test("opencode over cli can be canceled when its model never stops calling tools", async () => {
    const script = 'while cat "$recorded/run-two-tools.jsonl"; do sleep 0.1; done';
    const { ending } = await runScript(cliConnection, script, { onTool: (cancel) => cancel() });
    expect(ending).toMatchObject({ status: "error", errorCode: "cancelled" });
  });

  test.each([
    // The program exits with 0 after it has run the task with its default agent, which allows everything.
    ['agent "bridge" not found. Falling back to default agent', 0, "adapter_error", /did not load Bridge's agent/],
    ["Error: Session not found", 1, "adapter_error", /does not know the session/],
    ["Segmentation fault", 139, "runtime_crashed", /139.*Segmentation fault/],
    // The program exits without any output.
    ["", 0, "model_error", /before the model finished its answer/],
  ])("opencode over cli with stderr %j and exit code %i is %s", async (stderr, exitCode, errorCode, error) => {
    const { ending } = await runScript(cliConnection, `echo '${stderr}' >&2; exit ${exitCode}`);
    expect(ending).toMatchObject({ status: "error", errorCode, error: expect.stringMatching(error) });
  });
});

describe("opencode over http-api", () => {
  /** Runs a task whose program reports the address of a scripted server. */
  const serve = async (behavior: Partial<ServerBehavior>, given: Given = {}, before = ":") => {
    const root = await temporaryDirectory();
    const rules = rulesOf(createPermissions(createExecutionRequest(path.join(root, "workspace")), null, "http-api"));
    const { origin, session } = await createScriptedServer({ recording: "tool", rules, ...behavior });
    const script = `echo "$@ $OPENCODE_SERVER_PASSWORD" > "$seen"; cat; ${before}; echo "opencode server listening on ${origin}"; exec sleep 60`;
    return { session, ...(await runScript(httpApiConnection, script, { ...given, root })) };
  };

  test("opencode over http-api starts a server with closed stdin, runs the task and stops the server", async () => {
    const { ending, texts, session, seen } = await serve({});
    const usage = { inputTokens: 260, outputTokens: 60, thinkingTokens: 10, cacheReadTokens: 40, cacheWriteTokens: 0 };
    expect(ending).toEqual({ status: "ok", resumeToken: session, model: "scripted/model", usage, costUsd: 0.00036 });
    expect(texts.join("")).toBe("I run it.It said hi.");
    // Each server has its own password, which is not an argument.
    expect(seen).toMatch(/^serve --print-logs --log-level=WARN --hostname 127\.0\.0\.1 --port 0 [\w-]{43}\n$/);
    expect((await serve({})).seen).not.toBe(seen);
  });

  test("opencode over http-api reports its session after a cancel", async () => {
    const { ending, session } = await serve({ recording: "asked", until: '"permission.asked"' }, { onTool: (cancel) => cancel() });
    expect(ending).toMatchObject({ status: "error", errorCode: "cancelled", resumeToken: session });
  });

  test("opencode over http-api is canceled while its answer arrives", async () => {
    expect((await serve({}, { onTool: (cancel) => cancel() })).ending).toMatchObject({ status: "error", errorCode: "cancelled" });
  });

  test("opencode over http-api reports the failure of the conversation and not the exit of the server", async () => {
    expect((await serve({ recording: "error-401" })).ending).toMatchObject({ errorCode: "authentication_required" });
    expect((await serve({ rules: [] })).ending).toMatchObject({
      errorCode: "adapter_error",
      error: expect.stringContaining("the task's permissions"),
    });
  });

  test.each([
    ["echo 'no port is free' >&2; exit 1", "runtime_crashed", /exited with code 1\. no port is free/],
    ["kill -9 $$", "runtime_crashed", /SIGKILL/],
  ])("opencode over http-api reports a server that does not start: %s", async (script, errorCode, error) => {
    const { ending } = await runScript(httpApiConnection, script);
    expect(ending).toEqual({ status: "error", errorCode, error: expect.stringMatching(error) });
  });

  test("opencode over http-api connects only to a server on 127.0.0.1", async () => {
    const elsewhere = await createScriptedServer({ recording: "tool", rules: [] });
    const line = `echo "opencode server listening on ${elsewhere.origin.replace("127.0.0.1", "localhost")}"`;
    const { ending } = await runScript(httpApiConnection, `${line}; exit 1`);
    expect(ending).toMatchObject({ errorCode: "runtime_crashed" });
    expect((await serve({}, {}, line)).ending).toMatchObject({ status: "ok" });
    expect(elsewhere.calls).toEqual([]);
  });
});

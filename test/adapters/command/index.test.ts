import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AdapterConfig, AdapterEvent, ExecutionAdapter, ExecutionRequest } from "#contract";
import { createCommandAdapter } from "../../../adapters/command/index.ts";
import { createAdapterConfig } from "../../conformance/adapter-config.ts";
import { createExecutionRequest } from "../../conformance/execution-request.ts";

const misbehaving = path.join(import.meta.dirname, "../../fixtures/programs/misbehaving.js");
let root: string;
let adapter: Required<ExecutionAdapter>;
let events: AdapterEvent[];
let warnings: [fields: object, message: string][];
let orphansKilled: number;

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "command-"));
  for (const name of ["workspace", "home", "tmp"]) await mkdir(path.join(root, name));
  adapter = createCommandAdapter({ exitAfterResultMs: 100 });
  events = [];
  warnings = [];
  orphansKilled = 0;
  adapter.onEvent((event) => events.push(event));
});
afterEach(async () => {
  await adapter.shutdown();
  await rm(root, { recursive: true });
});

describe("a program without the protocol", () => {
  test("a program without the protocol prints its answer", async () => {
    await initialize(shell('printf "one\\n\\nthree"'));
    expect(await adapter.execute(request())).toMatchObject({ status: "ok", output: "one\n\nthree", connection: "cli" });
    expect(textOf(events).join("")).toBe("one\n\nthree");
  });

  test("a program without the protocol can discard text of its answer, but not text before a tool call", async () => {
    const invoked = JSON.stringify({ type: "tool.invoked", toolCallId: "1", toolName: "look", input: {} });
    const completed = JSON.stringify({ type: "tool.completed", toolCallId: "1", toolName: "look", output: "seen", isError: false });
    const discarded = JSON.stringify({ type: "assistant.text_discarded" });
    const lines = ["I look.", invoked, completed, "Half an", discarded, "Seen."];
    await initialize(shell(lines.map((line) => `echo '${line}'`).join(";")));
    expect(await adapter.execute(request())).toMatchObject({ status: "ok", output: "I look.\nSeen.\n" });
    expect(events.map(({ type }) => type)).toEqual([
      "assistant.text",
      "tool.invoked",
      "tool.completed",
      "assistant.text",
      "assistant.text_discarded",
      "assistant.text",
    ]);
  });

  test("a program without the protocol can split a character between two events of its text, and half a character becomes U+FFFD", async () => {
    const deltas = ["a\ud83d", "\ude00b", "\ud83d"].map((content) => JSON.stringify({ type: "assistant.text", content }));
    await initialize(shell([...deltas, "c"].map((line) => `printf '%s\\n' '${line}'`).join(";")));
    expect(await adapter.execute(request())).toMatchObject({ status: "ok", output: "a😀b\ufffdc\n" });
    expect(textOf(events)).toEqual(["a", "😀b", "\ufffd", "c\n"]);
  });

  test("a program without the protocol is limited in output by the size of its text in JSON", async () => {
    const printing = (bytes: number, byte: number) =>
      shell(`head -c ${bytes} /dev/zero | tr '\\0' '\\${byte.toString(8)}' | fold -b -w 1000`);
    const sizeOf = (texts: string[]) => texts.reduce((sum, text) => sum + Buffer.byteLength(JSON.stringify(text)) - 2, 0);
    await initialize(printing(31 * 1024 ** 2, 1));
    const stopped = await adapter.execute(request());
    expect(stopped).toMatchObject({ status: "error", errorCode: "output_limit", error: expect.stringContaining("32 MiB of text") });
    expect(stopped.output).toBe(textOf(events).join(""));
    expect(sizeOf(textOf(events))).toBeLessThanOrEqual(32 * 1024 ** 2);
    expect(sizeOf(textOf(events))).toBeGreaterThan(31 * 1024 ** 2);

    events = [];
    await initialize(printing(5 * 1024 ** 2, 1));
    expect(await adapter.execute(request())).toMatchObject({ status: "ok", output: textOf(events).join("") });
    expect(sizeOf(textOf(events))).toBeGreaterThan(30 * 1024 ** 2);

    await initialize(printing(31 * 1024 ** 2, 0xff));
    expect(await adapter.execute(request())).toMatchObject({ errorCode: "output_limit" });
  });

  test("a program without the protocol reports a tool call in a line of more than 8 MiB, which is cut", async () => {
    const invoked = JSON.stringify({ type: "tool.invoked", toolCallId: "1", toolName: "make", input: {} });
    const start = '{"type":"tool.completed","toolCallId":"1","toolName":"make","output":"';
    await initialize(
      shell(`echo '${invoked}'; printf '%s' '${start}'; head -c 9000000 /dev/zero | tr '\\0' x; echo '","isError":false}'; echo Built.`),
    );
    expect(await adapter.execute(request())).toMatchObject({ status: "ok", output: "Built.\n" });
    expect(events.filter(({ type }) => type === "tool.completed")).toMatchObject([
      { data: { isError: false, output: expect.stringMatching(/^x+ … \[cut by Bridge/) } },
    ]);
  });

  test("a program without the protocol prints a million short lines, which are emitted as few events", async () => {
    await initialize(shell("yes '{' | head -n 1000000"));
    const { status, output } = await adapter.execute(request());
    expect([status, output]).toEqual(["ok", "{\n".repeat(1_000_000)]);
    expect(events.length).toBeLessThan(1_000);
  });

  test("a program without the protocol reads the request from stdin, followed by its end", async () => {
    await initialize(["cat"]);
    const asked = request({ message: "für dich\n'; rm -rf /", metadata: { a: [1] } });
    const { output } = await adapter.execute(asked);
    expect(JSON.parse(output ?? "")).toEqual(asked);
  });

  test("a program without the protocol receives the listed variables and its directories, and runs in the requested directory", async () => {
    const env = { PATH: process.env["PATH"], LANG: "C", API_KEY: "k", BRIDGE_TOKENS_FILE: "secret", TMPDIR: "/tmp" };
    await initialize([process.execPath, misbehaving, "environment"], {
      env,
      settings: { argv: [process.execPath, misbehaving, "environment"], env: ["API_KEY"] },
    });
    const { output = "" } = await adapter.execute(request());
    const [environment = "", , cwd] = output.split("\n");
    expect(JSON.parse(environment).sort()).toEqual(
      ["API_KEY=k", "BRIDGE_TASK_ID=t1", `HOME=${root}/home`, "LANG=C", `PATH=${env.PATH}`, `TMPDIR=${root}/tmp`].sort(),
    );
    expect(cwd).toBe(`${root}/workspace`);
  });

  test.each([
    ["exits with a code", [process.execPath, misbehaving, "exit-with", "3"], "runtime_crashed", /exited with code 3.*the reason/],
    ["kills itself", shell("kill -9 $$"), "runtime_crashed", /SIGKILL/],
    ["does not exist", ["/no/such/program"], "spawn_failed", /ENOENT/],
    ["writes an endless line", [process.execPath, misbehaving, "long-line"], "output_limit", /8 MiB/],
    ["writes without end", [process.execPath, misbehaving, "flood-stdout"], "output_limit", /32 MiB/],
  ])("a program without the protocol fails with a specific error when it %s", async (_name, argv, errorCode, error) => {
    await initialize(argv);
    expect(await adapter.execute(request())).toMatchObject({ status: "error", errorCode, error: expect.stringMatching(error) });
  });
});

describe("a result line", () => {
  test("a result line takes precedence over the exit code", async () => {
    await initialize(shell(`echo working; echo '{"type":"result","output":"42","resumeToken":"r"}'; exit 7`));
    expect(await adapter.execute(request())).toMatchObject({ status: "ok", output: "42", resumeToken: "r" });
  });

  test("a result line counts although the program does not exit", async () => {
    await initialize(shell(`echo '{"type":"result","output":"42"}'; exec sleep 60`));
    expect(await adapter.execute(request())).toMatchObject({ status: "ok", output: "42" });
  });

  test("a result line that is not valid fails the task and keeps the text", async () => {
    await initialize(shell(`echo half; echo '{"type":"result","costUsd":"much"}'`));
    expect(await adapter.execute(request())).toMatchObject({
      status: "error",
      errorCode: "adapter_error",
      error: expect.stringContaining("costUsd"),
      output: "half\n",
    });
  });

  test("a result line counts once; a second result and reserved events are dropped with one log line", async () => {
    const lines = [
      '{"type":"execution.started"}',
      '{"type":"result","output":"first"}',
      '{"type":"result","output":"second"}',
      '{"type":"execution.failed"}',
    ];
    await initialize(shell(`cat <<'END'\n${lines.join("\n")}\nEND`));
    expect(await adapter.execute(request())).toMatchObject({ status: "ok", output: "first" });
    expect(events).toEqual([]);
    expect(warnings).toEqual([[{ taskId: "t1", dropped: 3 }, expect.any(String)]]);
  });
});

test("a malformed event is emitted as a warning and is not part of the answer", async () => {
  const lines = [
    '{"type":"tool.invoked","toolCallId":"1","toolName":"t","input":{}}',
    '{"type":"tool.completed","toolCallId":"1","toolName":"t","output":"x"}',
    "done",
  ];
  await initialize(shell(`cat <<'END'\n${lines.join("\n")}\nEND`));
  expect(await adapter.execute(request())).toMatchObject({ status: "ok", output: "done\n" });
  expect(events.map(({ type, data }) => ({ type, data }))).toEqual([
    { type: "tool.invoked", data: { toolCallId: "1", toolName: "t", input: {} } },
    { type: "execution.progress", data: { warning: expect.stringContaining("tool.completed (isError: ") } },
    { type: "assistant.text", data: { content: "done\n" } },
  ]);
  expect(warnings).toEqual([[{ taskId: "t1", malformed: 1 }, expect.any(String)]]);
});

test("bytes that are not UTF-8 are replaced in the text, with one warning", async () => {
  await initialize(shell(String.raw`printf 'caf\351\nth\351\n\357\277\275\n'`));
  expect(await adapter.execute(request())).toMatchObject({ status: "ok", output: "caf\ufffd\nth\ufffd\n\ufffd\n" });
  expect(events.map(({ type, data }) => ({ type, data }))).toEqual([
    { type: "execution.progress", data: { warning: expect.stringMatching(/not UTF-8.*outputStrategy/) } },
    { type: "assistant.text", data: { content: "caf\ufffd\nth\ufffd\n\ufffd\n" } },
  ]);
});

test("a program that prints the character U+FFFD itself causes no warning", async () => {
  await initialize(shell(String.raw`printf '\357\277\275\n'`));
  expect(await adapter.execute(request())).toMatchObject({ status: "ok", output: "\ufffd\n" });
  expect(events.map(({ type }) => type)).toEqual(["assistant.text"]);
});

describe("a canceled task", () => {
  test("a canceled task keeps its text and ignores a late result", async () => {
    await initialize(
      shell(`trap 'echo "{\\"type\\":\\"result\\",\\"output\\":\\"late\\"}"; exit 0' TERM; echo begun; while :; do sleep 0.02; done`),
    );
    const running = adapter.execute(request());
    await firstEvent();
    expect(await adapter.cancel("t1")).toBe(true);
    expect(await running).toMatchObject({ status: "error", errorCode: "cancelled", output: "begun\n" });
    expect(warnings).toHaveLength(1);
  });

  test("a canceled task kills its descendants and counts those that escaped the process group", async () => {
    await initialize(shell("setsid sh -c 'echo begun; exec sleep 60' & wait"));
    const running = adapter.execute(request());
    await firstEvent();
    await adapter.cancel("t1");
    expect((await running).errorCode).toBe("cancelled");
    expect(orphansKilled).toBe(1);
  });
});

describe("health", () => {
  test("health names the program", async () => {
    await initialize(["sh", "-c", "true"]);
    expect(await adapter.checkHealth()).toEqual({
      status: "healthy",
      connection: "cli",
      path: expect.stringMatching(/^\/.*\/sh$/),
      version: null,
      detail: null,
      preflight: [{ step: "primary connection", ok: true, detail: expect.stringMatching(/^\/.*\/sh$/) }],
    });
  });

  test("health names the setting when the program is not executable", async () => {
    await initialize(["no-such-agent"]);
    const health = await adapter.checkHealth();
    expect(health).toMatchObject({ status: "offline", connection: null, detail: expect.stringMatching(/no-such-agent.*BRIDGE_COMMAND/) });
    expect(health.preflight).toEqual([{ step: "primary connection", ok: false, detail: health.detail }]);
  });

  test("invalid settings are rejected at initialization", async () => {
    await expect(initialize([])).rejects.toThrow();
    expect((await adapter.checkHealth()).status).toBe("offline");
  });
});

describe("the example agents", () => {
  beforeEach(async () => {
    const workspace = path.join(root, "workspace");
    await mkdir(path.join(workspace, "sub"));
    await writeFile(path.join(workspace, "notes.md"), "# Notes\n\nTODO: one\nTODO: two\n");
    await writeFile(path.join(workspace, "sub/code.js"), "let x = 1;\n");
    await writeFile(path.join(workspace, "image.bin"), Buffer.from([1, 0, 2]));
    await writeFile(path.join(root, "secret.txt"), "outside");
    await symlink(path.join(root, "secret.txt"), path.join(workspace, "link.txt"));
  });

  test("file-report is the default program and reports on the workspace", async () => {
    await initialize(undefined);
    const { status, output, outputs } = await adapter.execute(request({ message: "count TODO, please" }));
    expect(status).toBe("ok");
    expect(outputs).toMatchObject({ files: 3, complete: true, lines: 5, bytes: 43, word: "TODO", matches: 2 });
    expect(output).toContain("| notes.md | 4 | 29 |");
    expect(output).not.toContain("link.txt");
    const calls = events.flatMap((event) =>
      event.type === "tool.invoked" ? [[event.data.toolName, (event.data.input as { path: string }).path]] : [],
    );
    expect(calls).toEqual([
      ["list_files", "."],
      ["read_file", "image.bin"],
      ["read_file", "notes.md"],
      ["read_file", "sub/code.js"],
    ]);
    expect(textOf(events).join("")).toBe(output);
    expect(textOf(events).length).toBeGreaterThan(3);
  });

  test("file-report filters by a pattern and returns the object of a schema", async () => {
    await initialize(undefined);
    const schema = { type: "object", properties: { files: {}, lines: {} }, additionalProperties: false };
    const { outputs } = await adapter.execute(request({ message: "only *.js", outputStrategy: { type: "structured", schema } }));
    expect(outputs).toEqual({ files: 1, lines: 1 });
  });

  test("file-report writes its report to a file if the profile allows it", async () => {
    await initialize(undefined);
    const toFile = (file: string) => ({ outputStrategy: { type: "file" as const, path: file } });
    const { output } = await adapter.execute(request({ ...toFile("out/report.md") }));
    expect(await readFile(path.join(root, "workspace/out/report.md"), "utf8")).toBe(output);
    expect(await adapter.execute(request({ ...toFile("second.md"), profile: "inspect" }))).toMatchObject({
      status: "error",
      errorCode: "output_invalid",
    });
    for (const outside of ["link.txt", "../escaped.md"]) {
      expect(await adapter.execute(request(toFile(outside)))).toMatchObject({ status: "error", errorCode: "output_invalid" });
    }
    expect(await readFile(path.join(root, "secret.txt"), "utf8")).toBe("outside");
    expect((await readdir(root)).sort()).toEqual(["home", "secret.txt", "tmp", "workspace"]);
  });

  test("shell-agent needs only a shell", async () => {
    await initialize([path.resolve(import.meta.dirname, "../../../examples/agents/shell-agent.sh")]);
    expect(await adapter.execute(request())).toMatchObject({
      status: "ok",
      output: expect.stringMatching(/^Hello from task t1\. In workspace there are 4 entries:\n/),
    });
  });
});

const shell = (script: string) => ["sh", "-c", script];
const textOf = (all: AdapterEvent[]) => all.flatMap((event) => (event.type === "assistant.text" ? [event.data.content] : []));
const firstEvent = () => new Promise((resolve) => adapter.onEvent(resolve));

function initialize(argv: string[] | undefined, config: Partial<AdapterConfig> = {}): Promise<void> {
  const quiet = () => {};
  const logger = { debug: quiet, info: quiet, error: quiet, warn: (...warning: [object, string]) => warnings.push(warning) };
  const onOrphansKilled = (count: number): void => {
    orphansKilled += count;
  };
  const env = { PATH: process.env["PATH"] };
  return adapter.initialize(createAdapterConfig(root, { settings: { argv, env: [] }, env, logger, onOrphansKilled, ...config }));
}

function request(changes: Partial<ExecutionRequest> = {}): ExecutionRequest {
  const directories = { workspace: `${root}/workspace`, cwd: `${root}/workspace`, home: `${root}/home`, tmp: `${root}/tmp` };
  return createExecutionRequest(root, { message: "go", directories, ...changes });
}

import { chmod, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type AdapterConfig, type ExecutionAdapter, isModelLister } from "#contract";
import type { AgentProgram, Probe, ProgramConnection } from "../../../../adapters/shared/agent-program/agent-program.ts";
import { createProgramAdapter } from "../../../../adapters/shared/agent-program/create-program-adapter.ts";
import { probeProgram, probeVersion } from "../../../../adapters/shared/agent-program/probe-program.ts";
import { findProgram } from "../../../../adapters/shared/process/find-program.ts";
import { processesOf } from "../../../conformance/adapter-bench.ts";
import { createAdapterConfig } from "../../../conformance/adapter-config.ts";
import { createExecutionRequest } from "../../../conformance/execution-request.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { scriptedConnection, scriptedProgram } from "./scripted-program.ts";

/** A connection to a program with this name on PATH, probed by its version. */
function connectionTo(program: string, changes: Partial<ProgramConnection> = {}): ProgramConnection {
  return scriptedConnection({
    find({ env }) {
      const file = findProgram(program, env["PATH"] ?? "");
      return file === null ? { missing: `${program} is not on the PATH: install it.` } : { argv: [file] };
    },
    async probe(argv, context) {
      const version = await probeVersion(context, argv, { PATH: "/usr/bin:/bin" });
      return { version, detail: `${argv[0]} ${version}` };
    },
    ...changes,
  });
}

/** An adapter with these connections and a separate directory as its PATH. */
async function openAdapter(
  connections: ProgramConnection[],
  changes: Partial<AgentProgram> = {},
  settings: AdapterConfig["settings"] = {},
) {
  const root = await temporaryDirectory();
  const [bin, dataDir] = [path.join(root, "bin"), path.join(root, "data")];
  for (const directory of [bin, dataDir]) await mkdir(directory);
  const adapter: ExecutionAdapter = createProgramAdapter({ ...scriptedProgram(...connections), ...changes });
  const initialize = () => adapter.initialize(createAdapterConfig(dataDir, { settings, env: { PATH: bin } }));
  onTestFinished(() => adapter.shutdown());
  const install = async (name: string, script: string): Promise<void> => {
    // Replaced atomically, as by an update: a file that is open for writing cannot be started.
    await writeFile(path.join(bin, `${name}.new`), `#!/bin/sh\n${script}\n`);
    await chmod(path.join(bin, `${name}.new`), 0o755);
    await rename(path.join(bin, `${name}.new`), path.join(bin, name));
  };
  const request = createExecutionRequest(root, {
    message: "hello",
    profile: "inspect",
    approvals: "deny",
    metadata: { does: "echo-message" },
  });
  return { adapter, bin, dataDir, root, initialize, install, request };
}

describe("a preflight", () => {
  test("a preflight reports its steps in a fixed order, and the connection in use", async () => {
    const { adapter, bin, initialize, install } = await openAdapter([connectionTo("one", { name: "acp" }), connectionTo("two")]);
    for (const [name, version] of ["one 1.0.1", "two 2.0.2-beta.1"].map((text) => text.split(" ") as [string, string]))
      await install(name, `echo "${name} ${version} (a program)"`);
    await initialize();
    expect(await adapter.checkHealth()).toEqual({
      status: "healthy",
      connection: "acp",
      path: `${bin}/one`,
      version: "1.0.1",
      detail: null,
      preflight: [
        { step: "primary connection", ok: true, detail: `acp: ${bin}/one 1.0.1` },
        { step: "secondary connection", ok: true, detail: `cli: ${bin}/two 2.0.2-beta.1` },
        { step: "authentication", ok: true, detail: "It needs none." },
        {
          step: "multi-agent capability",
          ok: true,
          detail: "One agent in each task. Councils do not use it: each role of a council runs as a separate task.",
        },
        {
          step: "timeout",
          ok: true,
          detail: "Estimated time limits are multiplied by 1.5 for this runtime.",
        },
      ],
    });
  });

  test("a preflight reports a missing program with advice, and uses the next connection", async () => {
    const { adapter, initialize, install, request } = await openAdapter([connectionTo("one", { name: "acp" }), scriptedConnection()]);
    await install("two", "echo 2.0.0");
    await initialize();
    const { status, connection, preflight } = await adapter.checkHealth();
    expect({ status, connection }).toEqual({ status: "healthy", connection: "cli" });
    expect(preflight[0]).toEqual({ step: "primary connection", ok: false, detail: "acp: one is not on the PATH: install it." });
    expect(await adapter.execute(request)).toMatchObject({ status: "ok", output: "hello", connection: "cli" });
  });

  test.each([
    ["exits with an error", 'echo "cannot find libx" >&2; exit 3', /--version prints no version: cannot find libx/],
    ["prints no version", "echo hello", /--version prints no version: hello/],
    ["prints nothing", "exit 2", /--version prints no version: it prints nothing and exits with 2/],
    ["is not a program", "\u0000\u0001", /one/],
  ])("a preflight reports a program that %s, and uses the next connection", async (_name, script, reason) => {
    const { adapter, initialize, install, request } = await openAdapter([connectionTo("one", { name: "acp" }), scriptedConnection()]);
    await install("one", script);
    await initialize();
    const { connection, preflight } = await adapter.checkHealth();
    expect(connection).toBe("cli");
    expect(preflight[0]).toMatchObject({ ok: false, detail: expect.stringMatching(reason) });
    expect(await adapter.execute(request)).toMatchObject({ status: "ok", connection: "cli" });
  });

  test("a preflight reports a slow program as still starting, and uses its answer in the next check", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const started = Promise.withResolvers<Probe>();
    const probe = vi.fn(() => started.promise);
    const { adapter, initialize } = await openAdapter([scriptedConnection({ probe })]);
    await initialize();
    const check = async () => {
      const health = adapter.checkHealth();
      await vi.advanceTimersByTimeAsync(10_000);
      return await health;
    };
    expect(await check()).toMatchObject({
      status: "offline",
      detail: "cli: The program is still starting: no answer within 10 s. Bridge checks again.",
    });
    expect(await check()).toMatchObject({ status: "offline" });
    started.resolve({ version: "1.2.3", detail: "It has started." });
    expect(await check()).toMatchObject({ status: "healthy", version: "1.2.3" });
    expect(probe).toHaveBeenCalledTimes(1);
  });

  test("limits a probe by the operator's setting", async () => {
    const { adapter, initialize, install } = await openAdapter([connectionTo("one")], {}, { probeSeconds: 0.2 });
    await install("one", "exec sleep 30");
    await initialize();
    expect(await adapter.checkHealth()).toMatchObject({
      status: "offline",
      detail: expect.stringContaining("did not answer within 0.2 s"),
    });
  });

  test("a preflight reports offline with the reasons if no connection works, and tasks fail with the same reasons", async () => {
    const { adapter, initialize, install, request } = await openAdapter([connectionTo("one", { name: "acp" }), connectionTo("two")]);
    await install("two", "exit 1");
    await initialize();
    const health = await adapter.checkHealth();
    expect(health).toMatchObject({ status: "offline", connection: null, version: null });
    expect(health.preflight.map(({ step }) => step)).toEqual(["primary connection", "secondary connection"]);
    expect(health.detail).toMatch(/one is not on the PATH: install it\..* cli: .*two --version prints no version/);
    expect(await adapter.execute(request)).toMatchObject({
      status: "error",
      errorCode: "adapter_offline",
      error: expect.stringMatching(/acp: one is not on the PATH: install it\. cli: .*--version prints no version/),
    });
  });

  test("a preflight uses only the configured connection, also if it does not work", async () => {
    const connections = [connectionTo("one", { name: "acp" }), connectionTo("two")];
    const { adapter, initialize, install } = await openAdapter(connections, {}, { connection: "cli" });
    await install("one", "echo 1.0.0");
    await initialize();
    expect(await adapter.checkHealth()).toMatchObject({ status: "offline", detail: "cli: two is not on the PATH: install it." });
    await install("two", "echo 2.0.0");
    expect(await adapter.checkHealth()).toMatchObject({ status: "healthy", connection: "cli", version: "2.0.0" });
  });

  test("a preflight reports a configured connection that the runtime does not have", async () => {
    const { adapter, initialize } = await openAdapter([connectionTo("one")], {}, { connection: "http-api" });
    await initialize();
    expect(await adapter.checkHealth()).toMatchObject({
      status: "offline",
      detail: 'The scripted adapter has no connection "http-api".',
      preflight: [],
    });
  });

  test("a preflight reports degraded without credentials, and the adapter still runs tasks", async () => {
    const findCredentials = async () => ({ ok: false, detail: "Set SCRIPTED_API_KEY." });
    const { adapter, initialize, request } = await openAdapter([scriptedConnection()], { findCredentials });
    await initialize();
    const health = await adapter.checkHealth();
    expect(health).toMatchObject({ status: "degraded", connection: "cli", detail: "Set SCRIPTED_API_KEY." });
    expect(health.preflight[1]).toEqual({ step: "authentication", ok: false, detail: "Set SCRIPTED_API_KEY." });
    expect((await adapter.execute(request)).status).toBe("ok");
  });

  test("a preflight reports degraded if the credentials cannot be checked", async () => {
    const findCredentials = () => Promise.reject(new Error("the file is a directory"));
    const { adapter, initialize } = await openAdapter([scriptedConnection()], { findCredentials });
    await initialize();
    expect(await adapter.checkHealth()).toMatchObject({ status: "degraded", detail: expect.stringContaining("the file is a directory") });
  });

  test("a preflight checks the credentials of the connection in use", async () => {
    const findCredentials = vi.fn(async () => ({ ok: true, detail: "a key" }));
    const { adapter, bin, initialize, install } = await openAdapter([connectionTo("one", { name: "acp" }), connectionTo("two")], {
      findCredentials,
    });
    await install("two", "echo 2.0.0");
    await initialize();
    await adapter.checkHealth();
    expect(findCredentials.mock.calls).toEqual([["cli", [`${bin}/two`], expect.objectContaining({ env: { PATH: bin } })]]);
  });
});

describe("a program that has answered", () => {
  test("a program that has answered is started again only after its file has changed", async () => {
    const { adapter, dataDir, initialize, install } = await openAdapter([connectionTo("one")]);
    const counter = path.join(dataDir, "starts");
    await install("one", `echo x >> ${counter}; echo 1.0.0`);
    await initialize();
    for (let check = 0; check < 3; check++) expect((await adapter.checkHealth()).version).toBe("1.0.0");
    await install("one", `echo x >> ${counter}; echo 1.0.1`);
    for (let check = 0; check < 2; check++) expect((await adapter.checkHealth()).version).toBe("1.0.1");

    expect(await readFile(counter, "utf8")).toBe("x\nx\n");
  });

  test("a program that failed is probed again, and used once it works", async () => {
    const { adapter, initialize, install } = await openAdapter([connectionTo("one")]);
    await install("one", "exit 1");
    await initialize();
    expect((await adapter.checkHealth()).status).toBe("offline");
    await install("one", "echo 1.0.0");
    expect(await adapter.checkHealth()).toMatchObject({ status: "healthy", version: "1.0.0" });
  });

  test("a removed program is reported missing at the next check", async () => {
    const { adapter, bin, initialize, install } = await openAdapter([connectionTo("one")]);
    await install("one", "echo 1.0.0");
    await initialize();
    expect((await adapter.checkHealth()).status).toBe("healthy");
    await rename(path.join(bin, "one"), path.join(bin, "elsewhere"));
    expect((await adapter.checkHealth()).status).toBe("offline");
  });
});

describe("time", () => {
  test("a probe that hangs is stopped with all its processes, and leaves no directory behind", async () => {
    const slow = connectionTo("one", {
      name: "acp",
      probe: async (argv, context) => {
        await probeProgram(context, { argv, env: { PATH: "/usr/bin:/bin" }, limitMs: 2_000 });
        return { version: null, detail: "" };
      },
    });
    const { adapter, dataDir, initialize, install } = await openAdapter([slow, scriptedConnection()]);
    await install("one", 'echo "$BRIDGE_TASK_ID" > "$HOME/id"; sleep 60');
    await initialize();
    const { connection, preflight } = await adapter.checkHealth();
    expect(connection).toBe("cli");
    expect(preflight[0]).toMatchObject({ ok: false, detail: "acp: The program did not answer within 2 s." });

    const id = (await readFile(path.join(dataDir, "probes/home/id"), "utf8")).trim();
    expect(id).toMatch(/^probe\//);
    expect(processesOf(id)).toEqual([]);
    expect(await readdir(path.join(dataDir, "probes"))).toEqual(["home"]);
  });

  test("a shutdown stops a running check and waits until its programs have ended", async () => {
    const { adapter, dataDir, initialize, install } = await openAdapter([connectionTo("one")]);
    await install("one", 'echo "$BRIDGE_TASK_ID" > "$HOME/id"; sleep 60');
    await initialize();
    const health = adapter.checkHealth();
    const id = await vi.waitUntil(() => readFile(path.join(dataDir, "probes/home/id"), "utf8").catch(() => null), { timeout: 5_000 });
    await adapter.shutdown();
    expect(processesOf(id.trim())).toEqual([]);
    expect((await health).status).toBe("offline");
  });

  test("a check takes less than 15 s even if every probe hangs", async () => {
    const never = () => new Promise<never>(() => {});
    const connections = [scriptedConnection({ name: "acp", probe: never }), scriptedConnection()];
    const findCredentials = vi.fn(never);
    const { adapter, initialize } = await openAdapter(connections, { findCredentials });
    await initialize();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const health = adapter.checkHealth();
    await vi.advanceTimersByTimeAsync(10_100);
    // The check also reads directories, which takes real time.
    while (findCredentials.mock.calls.length === 0) await new Promise(setImmediate);
    await vi.advanceTimersByTimeAsync(4_400);
    vi.useRealTimers();
    expect(await Promise.race([health, "still waiting"])).toMatchObject({
      status: "degraded",
      connection: "cli",
      detail: expect.stringMatching(/No answer within 4 s/),
      preflight: [
        { ok: false, detail: "acp: The program is still starting: no answer within 10 s. Bridge checks again." },
        { ok: true },
        { ok: false },
        { ok: true },
        { ok: true },
      ],
    });
  });

  test("tasks use the last result while a check is running", async () => {
    const probe = vi.fn<ProgramConnection["probe"]>().mockRejectedValueOnce(new Error("broken"));
    const connections = [scriptedConnection({ name: "acp", probe }), scriptedConnection()];
    const { adapter, initialize, request } = await openAdapter(connections);
    await initialize();
    await adapter.checkHealth();
    const { promise: answer, resolve } = Promise.withResolvers<{ version: string; detail: string }>();
    probe.mockReturnValue(answer);
    const check = adapter.checkHealth();
    expect(await adapter.execute(request)).toMatchObject({ status: "ok", connection: "cli" });
    resolve({ version: "1.0.0", detail: "mended" });
    expect((await check).connection).toBe("acp");
    expect(await adapter.execute({ ...request, taskId: "t2" })).toMatchObject({ status: "ok", connection: "acp" });
  });
});

test.each([
  ["repeats a failed request once", 1, ["a-model"]],
  ["rejects after a second failure, and asks again on the next call", 2, null],
])("a list of models %s", async (_, failures, expected) => {
  let requests = 0;
  const listModels = async () => {
    requests += 1;
    if (requests <= failures) throw new Error("not yet");
    return ["a-model"];
  };
  const { adapter, initialize } = await openAdapter([scriptedConnection()], { listModels });
  await initialize();
  if (!isModelLister(adapter)) return expect.unreachable();
  if (expected === null) await expect(adapter.listModels()).rejects.toThrow("not yet");
  expect([await adapter.listModels(), await adapter.listModels()]).toEqual([["a-model"], ["a-model"]]);
  expect(requests).toBe(failures + 1);
});

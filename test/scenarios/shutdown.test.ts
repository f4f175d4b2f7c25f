import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { open, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { createApp } from "../../src/app/create-app.ts";
import { loadConfig } from "../../src/app/load-config.ts";
import { compileCache } from "../harness/compile-cache.ts";
import { shellCommand, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { findFreePort } from "../support/find-free-port.ts";
import { isAlive } from "../support/is-alive.ts";
import { startReceiver } from "../support/start-receiver.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

describe("the shutdown", () => {
  test("the shutdown completes running tasks after SIGTERM, rejects new ones, ends streams with a closing event, and exits with 0", async () => {
    const receiver = await startReceiver();
    onTestFinished(receiver.close);
    const dataDir = await temporaryDirectory();
    const gate = path.join(dataDir, "gate");
    const bridge = await startBridgeProgram(dataDir, shellCommand(`while [ ! -e ${gate} ]; do sleep 0.05; done; echo finished`));
    await bridge.call("POST", "/api/v2/dispatch", { taskId: "t1", agentId: "a", message: "x", callbackUrl: receiver.origin });
    await taskInState(bridge, "t1", "running");
    const stream = (await bridge.call("GET", "/api/events", undefined, { accept: "text/event-stream" })).text();
    bridge.signal("SIGTERM");
    await expect.poll(async () => (await bridge.call("GET", "/readyz")).status).toBe(503);
    const refused = await bridge.call("POST", "/api/v2/dispatch", { agentId: "a", message: "x" });
    expect([refused.status, ((await refused.json()) as { code: string }).code, refused.headers.has("retry-after")]).toEqual([
      503,
      "draining",
      true,
    ]);
    expect((await bridge.call("GET", "/healthz")).status).toBe(200);
    await writeFile(gate, "");
    expect(await bridge.exited).toBe(0);

    expect(await stream).toMatch(/event: execution\.completed[\s\S]*event: stream\.closing\ndata: \{"reason":"shutdown"\}\n\n$/);
    expect(receiver.posts.map(({ body }) => JSON.parse(String(body)))).toMatchObject([
      { taskId: "t1", status: "ok", output: "finished\n" },
    ]);
  });

  test("the shutdown stops tasks that exceed the drain time with all their processes, and ends immediately on a second signal", async () => {
    const dataDir = await temporaryDirectory();
    const file = path.join(dataDir, "pid");
    const bridge = await startBridgeProgram(dataDir, {
      ...shellCommand(`setsid sleep 300 & echo $! > ${file}; sleep 300`),
      BRIDGE_DRAIN_SECONDS: "0",
    });
    await bridge.call("POST", "/api/v2/dispatch", { taskId: "t1", agentId: "a", message: "x" });
    await expect.poll(() => existsSync(file)).toBe(true);
    bridge.signal("SIGTERM");
    expect(await bridge.exited).toBe(0);
    const again = await startBridgeProgram(dataDir, shellCommand("sleep 300"));
    expect(await taskInState(again, "t1", "failed")).toMatchObject({ result: { errorCode: "bridge_shutdown" } });
    expect(isAlive(Number(await readFile(file, "utf8")))).toBe(false);

    await again.call("POST", "/api/v2/dispatch", { taskId: "t2", agentId: "a", message: "x" });
    await taskInState(again, "t2", "running");
    again.signal("SIGTERM");
    await expect.poll(async () => (await again.call("GET", "/readyz")).status).toBe(503);
    again.signal("SIGTERM");
    expect(await again.exited).not.toBe(0);
  });

  test("the shutdown completes after the reader of the log has ended", async () => {
    const bridge = await startBridgeProgram(await temporaryDirectory());
    const { promise: stopping, resolve } = Promise.withResolvers<void>();
    const push = bridge.log.push.bind(bridge.log);
    bridge.log.push = (...lines) => {
      if (lines.some(({ msg }) => msg === "stopping")) resolve();
      return push(...lines);
    };
    bridge.signal("SIGINT");
    await stopping;
    bridge.closeLog();
    expect(await bridge.exited).toBe(0);
  });

  test("the shutdown completes while the reader of the log is paused", async () => {
    const bridge = await startBridgeProgram(await temporaryDirectory());
    bridge.holdLog();
    // Each request logs a line of more than 1 KiB; together they exceed the capacity of the pipe.
    const place = `/api/v2/gateway/command/skills/${encodeURIComponent("世".repeat(128))}`;
    const refused = await Promise.all(Array.from({ length: 400 }, async () => (await bridge.call("DELETE", place)).status));
    expect(new Set(refused)).toEqual(new Set([404]));
    bridge.signal("SIGTERM");
    expect(await bridge.exited).toBe(0);
  });

  test("the shutdown waits for a start that is in progress", async () => {
    const environment = { BRIDGE_PORT: "0", BRIDGE_DATA_DIR: await temporaryDirectory(), BRIDGE_GATEWAY_TOKEN_HASH: "0".repeat(64) };
    const stopped = Promise.withResolvers<void>();
    const stopAt = (line: string): void => {
      if (line.includes('"listening"')) stopped.resolve(app.close());
    };
    const app = await createApp(loadConfig(environment).config, pino({}, { write: stopAt }), { environment });
    await expect(app.start()).resolves.toMatch(/^http:/);
    await stopped.promise;
  });

  test("the shutdown completes, and starts only on a signal, if neither the log nor stderr can be written", async () => {
    const port = await findFreePort();
    const full = await open("/dev/full", "w");
    const bridge = spawn(process.execPath, [path.resolve("src/main.ts")], {
      env: { ...compileCache, PATH: "/usr/bin:/bin", BRIDGE_PORT: String(port), BRIDGE_DATA_DIR: await temporaryDirectory() },
      stdio: ["ignore", full.fd, full.fd],
    });
    onTestFinished(() => void bridge.kill("SIGKILL"));
    await full.close();
    const exited = once(bridge, "exit");
    const isReady = () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    // The first line is lost by then.
    await expect.poll(isReady, { timeout: 15_000 }).toBe(true);
    bridge.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
  });

  test("the shutdown is graceful and exits with 1 after an uncaught error, including one of an adapter", async () => {
    const dataDir = await temporaryDirectory();
    const gate = path.join(dataDir, "gate");
    const echo = await readFile("examples/adapter/echo-adapter.js", "utf8");
    await writeFile(
      path.join(dataDir, "echo.mjs"),
      echo.replace("execute(request) {", 'execute(request) { Promise.reject(new Error("floating"));'),
    );
    const bridge = await startBridgeProgram(dataDir, {
      ...shellCommand(`while [ ! -e ${gate} ]; do sleep 0.05; done; echo finished`),
      BRIDGE_ADAPTERS: "command,./echo.mjs",
    });
    await bridge.call("POST", "/api/v2/dispatch", { taskId: "t1", agentId: "a", provider: "command", message: "x" });
    await taskInState(bridge, "t1", "running");
    await bridge.call("POST", "/api/v2/dispatch", { agentId: "a", provider: "echo", message: "x" });
    await expect.poll(async () => (await bridge.call("GET", "/readyz")).status).toBe(503);
    await writeFile(gate, "");
    expect(await bridge.exited).toBe(1);
    expect(bridge.log).toContainEqual(expect.objectContaining({ level: 60, err: expect.objectContaining({ message: "floating" }) }));

    const next = await startBridgeProgram(dataDir);
    expect(await taskInState(next, "t1", "completed")).toMatchObject({ result: { output: "finished\n" } });
  });

  test("after kill -9 the next start kills leftover processes, records the task as failed, and delivers its callback", async () => {
    const receiver = await startReceiver();
    onTestFinished(receiver.close);
    const dataDir = await temporaryDirectory();
    const file = path.join(dataDir, "pid");
    const killed = await startBridgeProgram(dataDir, shellCommand(`setsid sleep 300 & echo $! > ${file}; sleep 300`));
    await killed.call("POST", "/api/v2/dispatch", { taskId: "t1", agentId: "a", message: "x", callbackUrl: receiver.origin });
    await expect.poll(() => existsSync(file)).toBe(true);
    await taskInState(killed, "t1", "running");
    killed.signal("SIGKILL");
    expect(await killed.exited).toBe("SIGKILL");
    const leftover = Number(await readFile(file, "utf8"));
    expect(isAlive(leftover)).toBe(true);

    const next = await startBridgeProgram(dataDir);
    expect(await taskInState(next, "t1", "failed")).toMatchObject({ result: { errorCode: "bridge_restarted" } });
    expect(isAlive(leftover)).toBe(false);
    await expect.poll(() => receiver.posts.length).toBe(1);
    expect(JSON.parse(String(receiver.posts[0]?.body))).toMatchObject({ taskId: "t1", status: "error", errorCode: "bridge_restarted" });
  });
});

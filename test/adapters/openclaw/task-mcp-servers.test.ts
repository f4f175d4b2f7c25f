import { describe, expect, test } from "vitest";
import type { McpServerSpec } from "#contract";
import { GatewayError } from "../../../adapters/openclaw/gateway-error.ts";
import { createTaskMcpServers } from "../../../adapters/openclaw/task-mcp-servers.ts";

const files: McpServerSpec = { name: "files", transport: "stdio", command: "mcp-files", args: ["--root", "."], env: { KEY: "secret" } };
const search: McpServerSpec = { name: "search", transport: "http", url: "https://mcp.example/", headers: { authorization: "Bearer x" } };
const news: McpServerSpec = { name: "news", transport: "sse", url: "https://news.example/sse" };

/** A gateway configuration that merges patches and rejects stale ones. `refuse` is called before and after each patch. */
function open(given: Record<string, unknown> = {}, refuse: (isWritten: boolean, raw: string) => Error | null = () => null) {
  const servers: Record<string, unknown> = { ...given };
  const warnings: string[] = [];
  const { signal: shutdownSignal } = new AbortController();
  let revision = 1;
  let writes = 0;
  const methods: Record<string, (params: { raw: string; baseHash: string }) => unknown> = {
    "config.get": () => ({ hash: `h${revision}`, valid: true, sourceConfig: { mcp: { servers: { ...servers } } } }),
    "config.patch"({ raw, baseHash }) {
      const refusal = refuse(false, raw);
      if (refusal !== null) throw refusal;
      if (baseHash !== `h${revision}`)
        throw new GatewayError({ code: "INVALID_REQUEST", message: "config changed since last load; re-run config.get and retry" });
      const patch = JSON.parse(raw) as { mcp: { servers: Record<string, unknown> } };
      for (const [name, server] of Object.entries(patch.mcp.servers)) {
        if (server === null) delete servers[name];
        else servers[name] = server;
      }
      revision += 1;
      writes += 1;
      const failure = refuse(true, raw);
      if (failure !== null) throw failure;
      return {};
    },
  };
  const gateway = {
    hello: null,
    failure: null,
    waitForConnection: async () => ({}),
    hasMethod: () => true,
    call: async (method: string, params: object = {}) => methods[method]?.(params as never),
  };
  const logger = { debug() {}, info() {}, error() {}, warn: (_: object, message: string) => void warnings.push(message) };
  const taskServers = createTaskMcpServers(
    { gateway, shutdownSignal } as unknown as Parameters<typeof createTaskMcpServers>[0],
    "0123456789ab",
    logger,
  );
  return {
    taskServers,
    servers,
    warnings,
    get writes() {
      return writes;
    },
    changeElsewhere() {
      revision += 1;
    },
  };
}

describe("MCP servers of tasks", () => {
  test("MCP servers of tasks are in the configuration, disabled and with unique names, until they are removed", async () => {
    const { taskServers, servers } = open({ theirs: { command: "x" } });
    const names = await taskServers.add([files, search, news]);
    expect(names).toEqual([
      expect.stringMatching(/^br012345[0-9a-f]{6}-files$/),
      expect.stringMatching(/^br012345[0-9a-f]{6}-search$/),
      expect.stringMatching(/^br012345[0-9a-f]{6}-news$/),
    ]);
    expect(names.map((name) => servers[name])).toEqual([
      { enabled: false, command: "mcp-files", args: ["--root", "."], env: { KEY: "secret" } },
      { enabled: false, url: "https://mcp.example/", headers: { authorization: "Bearer x" }, transport: "streamable-http" },
      { enabled: false, url: "https://news.example/sse", headers: {}, transport: "sse" },
    ]);
    taskServers.remove(names);
    await taskServers.close();
    expect(servers).toEqual({ theirs: { command: "x" } });
  });

  test("MCP servers of tasks are escaped, so that the gateway does not expand variables in them", async () => {
    const { taskServers, servers } = open();
    const variable = (name: string): string => `$\{${name}}`;
    const key = variable("KEY");
    const args = [key, `a$${key}b`, `$KEY ${variable("key")} ${variable("1")}`, variable(`A${key}`)];
    const [stdio = "", http = ""] = await taskServers.add([
      { ...files, args, env: { WORD: key } },
      { ...search, url: `https://mcp.example/${key}`, headers: { "x-key": `Bearer ${key}` } },
    ]);
    const escaped = [`$${key}`, `a$$${key}b`, args[2], variable(`A$${key}`)];
    expect(servers[stdio]).toMatchObject({ args: escaped, env: { WORD: `$${key}` } });
    expect(servers[http]).toMatchObject({ url: `https://mcp.example/$${key}`, headers: { "x-key": `Bearer $${key}` } });
  });

  test("MCP servers of tasks that the gateway rejects do not affect other tasks", async () => {
    const patches: string[] = [];
    const { taskServers, servers } = open({}, (isWritten, raw) => {
      if (isWritten || !raw.includes("refused")) return null;
      patches.push(raw);
      return new GatewayError({ code: "INVALID_REQUEST", message: "Sentinel value is not valid as real data" });
    });
    const first = taskServers.add([files]);
    const outcomes = await Promise.allSettled([
      first,
      taskServers.add([search]),
      taskServers.add([{ ...files, args: ["refused"] }]),
      taskServers.add([news]),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
    expect(patches[0]).toContain("search");
    const names = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? outcome.value : []));
    expect(Object.keys(servers).sort()).toEqual(names.sort());
  });

  test("MCP servers of tasks of many concurrent tasks are added in few writes, with unique names", async () => {
    const bench = open();
    const added = await Promise.all(Array.from({ length: 20 }, () => bench.taskServers.add([files])));
    expect(new Set(added.flat()).size).toBe(20);
    expect(bench.writes).toBeLessThanOrEqual(3);
    for (const names of added) bench.taskServers.remove(names);
    await bench.taskServers.close();
    expect(bench.servers).toEqual({});
    expect(bench.writes).toBeLessThanOrEqual(6);
  });

  test("MCP servers of tasks that the gateway rejects are not added, and other servers stay unchanged", async () => {
    let refusal: Error | null = null;
    const { taskServers, servers } = open({}, () => refusal);
    const [kept] = await taskServers.add([files]);
    refusal = new GatewayError({ code: "FORBIDDEN", message: "missing scope" });
    await expect(taskServers.add([search])).rejects.toThrow("missing scope");
    refusal = null;
    await taskServers.add([news]);
    expect(Object.keys(servers).filter((name) => name.endsWith("-search"))).toEqual([]);
    expect(Object.keys(servers)).toContain(kept);
  });

  test("MCP servers of tasks whose removal failed are logged and removed by the next write", async () => {
    let refusal: Error | null = null;
    const { taskServers, servers, warnings } = open({}, () => refusal);
    const names = await taskServers.add([files]);
    refusal = new GatewayError({ code: "UNAVAILABLE", message: "rate limit" });
    taskServers.remove(names);
    await taskServers.close();
    await expect.poll(() => warnings).toHaveLength(1);
    refusal = null;
    taskServers.remove(await taskServers.add([search]));
    await taskServers.close();
    expect(servers).toEqual({});
  });

  test("MCP servers of tasks whose removal exceeds the gateway's rate limit are removed later", async () => {
    let refusals = 1;
    const message = "rate limit exceeded for config.patch; retry after 1s";
    const busy = new GatewayError({ code: "UNAVAILABLE", message, retryable: true, retryAfterMs: 10 });
    let names: string[] | null = null;
    const { taskServers, servers, warnings } = open({}, () => (names !== null && refusals-- > 0 ? busy : null));
    names = await taskServers.add([files]);
    taskServers.remove(names);
    await expect.poll(() => servers, { timeout: 5_000 }).toEqual({});
    expect(warnings).toEqual([]);
  });

  test("MCP servers of tasks whose write was superseded by another change are in the configuration", async () => {
    const message = "config.patch persisted but was not applied to the active Gateway (superseded); run config.get, then use config.apply";
    const { taskServers, servers } = open({}, (written) => (written ? new GatewayError({ code: "UNAVAILABLE", message }) : null));
    const names = await taskServers.add([files]);
    expect(Object.keys(servers)).toEqual(names);
  });

  test("MCP servers of tasks whose write has an unknown outcome are removed", async () => {
    const failed = "config.patch persisted but was not applied to the active Gateway (failed); run config.get, then use config.apply";
    let fails = true;
    const { taskServers, servers, warnings } = open({}, (written) => {
      if (!written || !fails) return null;
      fails = false;
      return new GatewayError({ code: "UNAVAILABLE", message: failed });
    });
    await expect(taskServers.add([files])).rejects.toThrow("failed");
    await expect.poll(() => servers).toEqual({});
    expect(warnings).toEqual([]);
  });

  test("MCP servers of tasks of a killed Bridge are removed by the sweep, and no others", async () => {
    const others = { "br0123456-mine": {}, "brffffff0a1b2c-files": {}, files: {} };
    const { taskServers, servers } = open({ ...others, "br0123450a1b2c-files": {} });
    await taskServers.sweep();
    expect(servers).toEqual(others);
  });

  test("MCP servers of tasks are added while other clients change the configuration", async () => {
    let changes = 2;
    const bench = open({}, (isWritten) => {
      if (isWritten) return null;
      if (changes > 0) bench.changeElsewhere();
      changes -= 1;
      return null;
    });
    const names = await bench.taskServers.add([files]);
    expect(Object.keys(bench.servers)).toEqual(names);
  });
});

import { afterEach, describe, expect, test, vi } from "vitest";
import type { McpServerSpec } from "#contract";
import { validateDispatch } from "../../../src/dispatch/admission/validate-dispatch.ts";
import { createDestinationGuard } from "../../../src/network/destination-guard.ts";
import { createDnsCache, type DnsCache } from "../../../src/network/dns-cache.ts";
import type { Lookup } from "../../../src/network/dns-resolver.ts";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { caller, newDispatch, startEngine } from "../engine.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** A resolver whose host names contain their addresses. It counts lookups and concurrent lookups. */
function createDnsResolver(
  answer: Lookup = async (hostname) => [{ address: hostname.startsWith("inner") ? "10.0.0.1" : "8.8.8.8", family: 4 }],
) {
  const numbers = { asked: 0, atOnce: 0, mostAtOnce: 0 };
  const lookup: Lookup = async (hostname) => {
    numbers.asked += 1;
    numbers.atOnce += 1;
    numbers.mostAtOnce = Math.max(numbers.mostAtOnce, numbers.atOnce);
    const found = await answer(hostname);
    numbers.atOnce -= 1;
    return found;
  };
  return { lookup, numbers };
}

const check = (mcpServers: McpServerSpec[], lookup: Lookup | DnsCache, allow: string[] = [], tenant = "default") =>
  validateDispatch(newDispatch({ request: { mcpServers } }).request, {
    adapter: createInMemoryAdapter(),
    provider: "memory",
    capabilities: createInMemoryAdapter().capabilities(),
    guard: createDestinationGuard({ allow, dnsCache: typeof lookup === "function" ? createDnsCache({ resolve: lookup }) : lookup }),
    schemas: { findSchemaFault: async () => null },
    tenant,
    mcpCommands: ["allowed-mcp"],
    workspace: "/nowhere",
  });
const http = (url: string, transport: "http" | "sse" = "http"): McpServerSpec => ({ name: url, transport, url });

describe("MCP servers", () => {
  test("MCP servers pass for one tenant while lookups of 200 hosts of another tenant hang", async () => {
    const dnsCache = createDnsCache({
      resolve: (host) => (host.startsWith("silent") ? new Promise(() => {}) : Promise.resolve([{ address: "8.8.8.8", family: 4 }])),
    });
    const checkFor = (tenant: string, url: string) => check([http(url)], dnsCache, [], tenant);
    for (let index = 0; index < 200; index += 1) void checkFor("a", `https://silent${index}.example/`).catch(() => {});
    await checkFor("b", "https://alive.example/");
  });

  test("MCP servers pass if each of them passes", async () => {
    const { lookup, numbers } = createDnsResolver();
    const servers: McpServerSpec[] = [
      http("https://a.example/"),
      { name: "files", transport: "stdio", command: "allowed-mcp" },
      http("https://b.example/", "sse"),
    ];
    await expect(check(servers, lookup)).resolves.toBeUndefined();
    expect(numbers).toEqual({ asked: 2, atOnce: 0, mostAtOnce: 1 });
  });

  test("MCP servers are rejected with the path of each fault", async () => {
    const { lookup } = createDnsResolver();
    const servers: McpServerSpec[] = [
      http("https://inner.example/", "sse"),
      http("https://a.example/"),
      { name: "shell", transport: "stdio", command: "sh" },
      http("http://169.254.169.254/"),
      http("http://a.example/"),
    ];
    await expect(check(servers, lookup, ["192.168.0.0/16"])).rejects.toMatchObject({
      code: "mcp_refused",
      errors: [
        { path: "mcpServers.0.url", message: expect.stringContaining("inner.example") },
        { path: "mcpServers.2.command", message: expect.stringContaining("BRIDGE_MCP_COMMANDS") },
        { path: "mcpServers.3.url", message: expect.stringContaining("never permitted") },
        { path: "mcpServers.4.url", message: expect.stringContaining("a.example") },
      ],
    });
  });

  test("MCP servers have five seconds for the lookups of all their hosts", async () => {
    vi.useFakeTimers();
    const { lookup, numbers } = createDnsResolver(
      (hostname) =>
        new Promise((resolve) => {
          setTimeout(resolve, 2000, [{ address: "8.8.8.8", family: 4 }]);
          expect(hostname).toMatch(/^h\d\.example$/);
        }),
    );
    const checked = check(
      Array.from({ length: 6 }, (_, index) => http(`https://h${index}.example/`)),
      lookup,
    );
    const refused = expect(checked).rejects.toMatchObject({
      code: "mcp_refused",
      errors: [2, 3, 4, 5].map((index) => ({ path: `mcpServers.${index}.url`, message: expect.stringContaining("try again later") })),
    });
    await vi.advanceTimersByTimeAsync(5000);
    await refused;
    expect(numbers).toMatchObject({ asked: 3, mostAtOnce: 1 });
  });
});

describe("a dispatch whose MCP server resolves to an internal address", () => {
  const dispatch = newDispatch({ taskId: "t1", request: { mcpServers: [http("http://localhost:6379/")] } });

  test("a dispatch whose MCP server resolves to an internal address is rejected although callbacks may reach that network, and nothing is stored", async () => {
    const guard = createDestinationGuard({ allow: ["10.0.0.0/8"] });
    const engine = await startEngine([createInMemoryAdapter()], { guard });
    await expect(engine.dispatcher.admitTask(dispatch, caller)).rejects.toMatchObject({
      code: "mcp_refused",
      errors: [{ path: "mcpServers.0.url", message: expect.stringContaining("not permitted") }],
    });
    expect(await engine.store.findTask("default", "t1")).toBeNull();
  });

  test("a dispatch whose MCP server resolves to an internal address is accepted if the operator permits the host; a repeated dispatch is not checked again", async () => {
    const { lookup, numbers } = createDnsResolver(async () => [{ address: "127.0.0.1", family: 4 }]);
    const guard = createDestinationGuard({ allow: ["localhost"], dnsCache: createDnsCache({ resolve: lookup }) });
    const checkDestination = vi.spyOn(guard, "checkDestination");
    const engine = await startEngine([createInMemoryAdapter()], { guard });
    expect(await engine.dispatcher.admitTask(dispatch, caller)).toMatchObject({ replayed: false });
    expect(await engine.dispatcher.admitTask(dispatch, caller)).toMatchObject({ replayed: true });
    expect([numbers.asked, checkDestination.mock.calls.length]).toEqual([1, 1]);
  });
});

import { domains } from "bridge-council";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { domainRoutes } from "../../../src/http/routes/domains.ts";
import { type Bridge, expectProblem, startBridge } from "../../support/start-bridge.ts";
import { createBareServer } from "../bare-server.ts";

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge();
});
afterAll(() => bridge.close());

const list = (query = "", token: "alpha" | "beta" | "reader" = "alpha") => bridge.call("GET", `/api/v2/domains${query}`, { token });
const configure = (agentId: string, settings: unknown) =>
  bridge.call("PUT", `/api/v2/workspaces/${agentId}/files/.bridge-settings.json`, {
    body: typeof settings === "string" ? settings : JSON.stringify(settings),
    headers: { "content-type": "text/plain" },
  });

test("the list has the built-in domains with the fields of a definition, although no council is loaded", async () => {
  const { status, body } = await list("", "reader");
  expect([status, body.meta]).toEqual([200, { nextCursor: null, settingsFault: null }]);
  expect(body.data.map(({ name }: { name: string }) => name)).toEqual(domains.map(({ name }) => name));
  expect(body.data[1]).toEqual({
    name: "database",
    expert: "Database Engineer",
    focus: domains[1]?.focus_areas,
    standards: ["Normal forms up to 3NF", "ACID", "Expand-and-contract migrations"],
    instructions: expect.stringMatching(/^Follows each row .* Read the data model and the statements in \{scope\}\./),
    signals: domains[1]?.trigger_signals,
    source: "built-in",
  });
});

test("a workspace adds and overrides domains, for its own tenant only", async () => {
  const defined = {
    name: "payments",
    expert: "Payments Engineer",
    focus: ["double charges"],
    standards: ["PCI DSS"],
    signals: ["chargeback"],
  };
  await configure("shop", { custom_domains: [{ name: "database", expert: "Ledger Engineer" }, defined] });
  const { body } = await list("?workspace=shop");
  expect(body.meta).toEqual({ nextCursor: null, settingsFault: null });
  expect(body.data).toHaveLength(27);
  expect(body.data[0]).toEqual({ ...defined, instructions: null, source: "workspace" });
  const builtIn = (await list()).body.data;
  expect(body.data[2]).toEqual({ ...builtIn[1], expert: "Ledger Engineer", source: "workspace" });
  for (const other of [await list("?workspace=other"), await list("?workspace=shop", "beta")]) expect(other.body.data).toEqual(builtIn);
});

test("an entry of the list is a valid definition", async () => {
  const { source: _, instructions, ...entry } = (await list()).body.data[0];
  await configure("copy", { custom_domains: [{ ...entry, instructions, expert: "Changed" }] });
  const { body } = await list("?workspace=copy");
  expect(body.data[0]).toEqual({ ...entry, instructions, expert: "Changed", source: "workspace" });
  expect(body.meta.settingsFault).toBeNull();
});

test("every built-in domain is within the limits of a definition", async () => {
  const { data } = (await list()).body;
  await configure("limits", { custom_domains: data.map(({ source: _, ...entry }: { source: string }) => entry) });
  expect((await list("?workspace=limits")).body.meta.settingsFault).toBeNull();
});

test.each([
  ["that is not valid JSON", "{", ".bridge-settings.json is not used. It is not valid JSON."],
  ["with an invalid domain", { custom_domains: [{ name: "x", focus: "y" }] }, /custom_domains\.0\.focus must be a list .* is not used\.$/],
  ["with a byte order mark", `\uFEFF{}`, null],
])("the list reports the faults of a settings file %s", async (_, settings, fault) => {
  await configure("faulty", settings);
  const { body } = await list("?workspace=faulty");
  expect(body.data).toHaveLength(26);
  expect(body.meta.settingsFault).toEqual(fault instanceof RegExp ? expect.stringMatching(fault) : fault);
});

test("the list is paginated", async () => {
  const found: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body } = await list(`?limit=10${cursor && `&cursor=${cursor}`}`);
    found.push(...body.data.map(({ name }: { name: string }) => name));
    cursor = body.meta.nextCursor;
  }
  expect(found).toEqual(domains.map(({ name }) => name));
});

test.each(["?workspace=../other", "?workspace=", "?workspace=a&workspace=b", "?agentId=shop"])("%s is rejected", async (query) => {
  expectProblem(await list(query), "invalid_request");
});

test("the list requires the scope read", async () => {
  expectProblem(await bridge.call("GET", "/api/v2/domains", { token: "dispatcher" }), "scope_missing");
});

test("the settings of a tenant are read one after the other, and do not delay those of another tenant", async () => {
  const app = await createBareServer({
    tokens: { find: (tenant) => ({ name: tenant, tenant, scopes: new Set(["read"] as const), expiresAt: null }) },
  });
  const reading: string[] = [];
  const gates = new Map<string, () => void>();
  onTestFinished(async () => {
    for (const open of gates.values()) open();
    await app.close();
  });
  await app.register(domainRoutes, {
    async listDomains(directory) {
      reading.push(directory ?? "");
      await new Promise<void>((open) => gates.set(directory ?? "", open));
      return { domains: [], fault: null };
    },
    workspaces: { workspaceOf: (tenant, agentId) => `${tenant}/${agentId}` },
    forward: async () => {},
  });
  const get = async (tenant: string, workspace: string) =>
    await app.inject({ url: `/api/v2/domains?workspace=${workspace}`, headers: { authorization: `Bearer ${tenant}` } });
  const requests = [get("alpha", "a"), get("alpha", "b"), get("beta", "c")];
  await expect.poll(() => reading.toSorted()).toEqual(["alpha/a", "beta/c"]);
  gates.get("alpha/a")?.();
  await expect.poll(() => reading.toSorted()).toEqual(["alpha/a", "alpha/b", "beta/c"]);
  for (const open of gates.values()) open();
  expect((await Promise.all(requests)).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
});

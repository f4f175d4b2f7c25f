import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createOpenClawAdapter } from "../../../adapters/openclaw/index.ts";
import { PROMPT_OPENING } from "../../../adapters/shared/agent-program/prompt.ts";
import { type Answer, type Bridge, type Call, expectProblem, startBridge } from "../../support/start-bridge.ts";
import { askUntil } from "../../support/until.ts";
import { createModelServer, type ModelServer } from "../model-server/server.ts";
import { gatewayModel, type RealGateway, startGateway } from "./start-gateway.ts";

let model: ModelServer;
let gateway: RealGateway;
/** One Bridge on the gateway's host, and one with the settings of a Bridge on another host. */
let near: Bridge;
let far: Bridge;

/** A Bridge whose adapter is connected to the gateway. */
async function bridgeOn(environment: Record<string, string>): Promise<Bridge> {
  const adapters = [{ provider: "openclaw", adapter: createOpenClawAdapter() }];
  const bridge = await startBridge(
    { BRIDGE_OPENCLAW_URL: gateway.url, BRIDGE_OPENCLAW_TOKEN: gateway.token, BRIDGE_OPENCLAW_WORKSPACE: "agent", ...environment },
    { adapters },
  );
  await untilThere(bridge);
  return bridge;
}

const untilThere = (bridge: Bridge) =>
  askUntil(
    () => bridge.call("GET", "/api/v2/gateway/openclaw"),
    ({ status }) => status === 200,
  );

beforeAll(async () => {
  model = await createModelServer({ messagePrefix: PROMPT_OPENING });
  gateway = await startGateway({ modelUrl: model.url });
  near = await bridgeOn({ BRIDGE_OPENCLAW_STATE_DIR: gateway.stateDir, BRIDGE_OPENCLAW_COMMAND: JSON.stringify(gateway.argv) });
  far = await bridgeOn({});
});

afterAll(async () => {
  await Promise.all([near?.close(), far?.close()]);
  await gateway?.close();
  await model?.close();
});

const ask = (method: string, target: string, options: Call = {}, bridge = near): Promise<Answer> =>
  bridge.call(method, `/api/v2/gateway/openclaw${target}`, options);
const ifMatch = (etag: unknown) => ({ headers: { "if-match": `"${String(etag)}"` } });
const put = (target: string, content: string, options: Call = {}, bridge = near) =>
  ask("PUT", target, { ...options, body: { content } }, bridge);
const make = async (id: string, fields: object = {}): Promise<Answer> => {
  const made = await ask("POST", "/agents", { body: { id, ...fields } });
  expect(made.text).toContain(`"id":"${id}"`);
  expect(made.status).toBe(201);
  return made;
};
/** Dispatches to an agent of the gateway; resolves when the task is in the state. */
async function dispatch(agentId: string, message: string, state: string): Promise<string> {
  const { body } = await near.dispatch({ provider: "openclaw", agentId, message });
  const task = await askUntil(
    () => near.call("GET", `/api/v2/tasks/${body.taskId}`),
    ({ body: { state: now } }) => [state, "failed", "completed"].includes(now),
  );
  expect(task.body).toMatchObject({ state });
  return body.taskId;
}

describe("agents", () => {
  it("agents are created, with a soul file that the model receives", async () => {
    const made = await make("poet", { name: "The Poet", model: gatewayModel });
    expect(made.body).toMatchObject({ id: "poet", name: "The Poet", model: gatewayModel });
    expect((await ask("GET", "/agents")).body.data.map(({ id }: { id: string }) => id)).toEqual(["main", "poet"]);
    expectProblem(await ask("POST", "/agents", { body: { id: "poet" } }), "invalid_state");

    const soul = await put("/agents/poet/files/SOUL.md", "# Soul\nYou speak in hexameters of zinc.");
    expect(soul.status).toBe(201);
    await dispatch("poet", `Speak. ${model.scenario([{ text: "Of zinc." }])}`, "completed");
    expect(JSON.stringify(model.requests.at(-1))).toContain("hexameters of zinc");

    const read = await ask("GET", "/agents/poet/files/SOUL.md");
    expect(read.body).toEqual({ name: "SOUL.md", content: "# Soul\nYou speak in hexameters of zinc.", etag: soul.body.etag });
    expect((await put("/agents/poet/files/SOUL.md", "# New", ifMatch(read.body.etag))).status).toBe(200);
    expectProblem(await put("/agents/poet/files/SOUL.md", "# Lost", ifMatch(read.body.etag)), "stale_write");
    expectProblem(await put("/agents/poet/files/TOOLS.md", "x"), "invalid_request");
    expect((await ask("GET", "/agents/poet/files")).body.data).toContainEqual({ name: "SOUL.md", etag: null, bytes: 5 });
    expectProblem(await ask("DELETE", "/agents/poet/files/SOUL.md", {}, far), "not_supported");
    expect((await ask("DELETE", "/agents/poet/files/SOUL.md")).status).toBe(204);
    expectProblem(await ask("GET", "/agents/poet/files/SOUL.md"), "not_found");
    expect((await ask("DELETE", "/agents/poet")).status).toBe(204);
  });

  it("agents are changed atomically, and deleted with all of their data", async () => {
    await make("poet", { model: gatewayModel });
    await put("/agents/poet/files/SOUL.md", "# Last");
    const { etag } = (await ask("GET", "/agents/poet")).body;
    const change = { name: "Bard", tools: { allow: ["read", "write"] } };
    const changed = await ask("PATCH", "/agents/poet", { body: change, ...ifMatch(etag) });
    expect(changed.body).toMatchObject({ ...change, identity: { name: "Bard" } });
    expectProblem(await ask("PATCH", "/agents/poet", { body: { name: "Lost" }, ...ifMatch(etag) }), "stale_write");
    const less = await ask("PATCH", "/agents/poet", { body: { model: null, tools: { allow: ["read"] } } });
    expect(less.body).toMatchObject({ name: "Bard", tools: { allow: ["read"] } });
    expect(less.body).not.toHaveProperty("model");
    expectProblem(await ask("PATCH", "/agents/poet", { body: { colour: "red" } }), "invalid_request");
    expectProblem(await ask("PATCH", "/agents/poet", { body: { thinkingDefault: "enormous" } }), "invalid_request");

    expectProblem(await ask("DELETE", "/agents/poet", ifMatch(etag)), "stale_write");
    expectProblem(await ask("DELETE", "/agents/main"), "invalid_state");
    expect((await ask("DELETE", "/agents/poet", ifMatch(less.body.etag))).status).toBe(204);
    expectProblem(await ask("GET", "/agents/poet"), "not_found");
    expectProblem(await ask("DELETE", "/agents/poet"), "not_found");
    await make("poet");
    expectProblem(await ask("GET", "/agents/poet/files/SOUL.md"), "not_found");
    expect((await ask("DELETE", "/agents/poet")).status).toBe(204);
  });

  it("agents are rejected with ids that the gateway would change, without a partial agent", async () => {
    expectProblem(await ask("POST", "/agents", { body: { id: "Poet" } }), "invalid_request");
    expectProblem(await ask("POST", "/agents", { body: { id: "half", thinkingDefault: "enormous" } }), "invalid_request");
    expectProblem(await ask("GET", "/agents/half"), "not_found");
  });

  it("agents are not deleted while they run a task", async () => {
    await make("busy");
    const taskId = await dispatch("busy", `Wait. ${model.scenario([{ hang: true, say: "I begin." }])}`, "running");
    await askUntil(
      async () => model.requests.length,
      () => JSON.stringify(model.requests.at(-1)).includes("Wait."),
    );
    const refusal = await ask("DELETE", "/agents/busy");
    expectProblem(refusal, "invalid_state");
    expect(refusal.body.detail).toMatch(/Cancel its tasks/);
    expect((await ask("GET", "/agents/busy")).status).toBe(200);
    await near.call("POST", `/api/v2/tasks/${taskId}/cancel`);
    await askUntil(
      () => near.call("GET", `/api/v2/tasks/${taskId}`),
      ({ body }) => body.state === "cancelled",
    );
    expect((await ask("DELETE", "/agents/busy")).status).toBe(204);
  });

  it("agents are bound to channels separately", async () => {
    await Promise.all([make("one"), make("two")]);
    const bind = (id: string, channels: string[], options: Call = {}) =>
      ask("PUT", `/agents/${id}/bindings`, { ...options, body: { bindings: channels.map((channel) => ({ match: { channel } })) } });
    const channelsOf = ({ body }: Answer) => body.bindings.map(({ match }: { match: { channel: string } }) => match.channel);
    const first = await bind("one", ["telegram", "slack"]);
    await bind("two", ["discord"]);
    expect(channelsOf(first)).toEqual(["telegram", "slack"]);
    expect(channelsOf(await bind("one", ["slack"], ifMatch(first.body.etag)))).toEqual(["slack"]);
    expectProblem(await bind("one", [], ifMatch(first.body.etag)), "stale_write");
    expect(channelsOf(await bind("one", []))).toEqual([]);
    expect(channelsOf(await ask("GET", "/agents/two/bindings"))).toEqual(["discord"]);
    expectProblem(await ask("PUT", "/agents/one/bindings", { body: { bindings: [{ match: {} }] } }), "invalid_request");
    for (const id of ["one", "two"]) expect((await ask("DELETE", `/agents/${id}`)).status).toBe(204);
  });
});

describe("skills", () => {
  const documentOf = (name: string, description: string, more = "") =>
    `---\nname: ${name}\ndescription: ${description}\n${more}---\n\nSay hi.\n`;

  it("skills are added, read, changed and deleted on the gateway's host", async () => {
    const one = await put("/skills/greet", documentOf("greet", "One."));
    expect(one.status).toBe(201);
    expect((await ask("GET", "/skills/greet")).body).toEqual(one.body);
    const entries = (await ask("GET", "/skills?limit=200")).body.data;
    expect(entries).toContainEqual(expect.objectContaining({ name: "greet", description: "One.", eligible: true }));
    expect(entries.length).toBeGreaterThan(20);
    expect(JSON.stringify(entries)).not.toContain(gateway.stateDir);
    const two = await put("/skills/greet", documentOf("greet", "Two."), ifMatch(one.body.etag));
    expect(two.status).toBe(200);
    expectProblem(await put("/skills/greet", documentOf("greet", "Lost."), ifMatch(one.body.etag)), "stale_write");
    expectProblem(await put("/skills/greet", "Say hi."), "invalid_request");
    expectProblem(await ask("DELETE", "/skills/weather"), "not_supported");
    expectProblem(await ask("DELETE", "/skills/greet", ifMatch(one.body.etag)), "stale_write");
    expect((await ask("DELETE", "/skills/greet", ifMatch(two.body.etag))).status).toBe(204);
    expectProblem(await ask("GET", "/skills/greet"), "not_found");
  });

  it("skills are uploaded from another host, where they cannot be deleted", async () => {
    const one = await put("/skills/far-away", documentOf("far-away", "One."), {}, far);
    expect(one.status).toBe(201);
    const two = await put("/skills/far-away", documentOf("far-away", "Two."), ifMatch(one.body.etag), far);
    expect((await ask("GET", "/skills/far-away", {}, far)).body).toEqual(two.body);
    expectProblem(await put("/skills/far-away", documentOf("far-away", "Lost."), ifMatch(one.body.etag), far), "stale_write");
    expectProblem(await ask("DELETE", "/skills/far-away", {}, far), "not_supported");
    expectProblem(await ask("GET", "/skills/weather", {}, far), "not_supported");
    expect((await ask("DELETE", "/skills/far-away")).status).toBe(204);
  });

  it("skills report why a dependency cannot be installed", async () => {
    const install = [{ id: "tool", kind: "download", url: "http://127.0.0.1:9/tool", bins: ["tool-of-nobody"], label: "Download it" }];
    const metadata = JSON.stringify({ openclaw: { requires: { bins: ["tool-of-nobody"] }, install } });
    expect((await put("/skills/needy", documentOf("needy", "Needs.", `metadata: ${metadata}\n`))).status).toBe(201);
    const failed = await ask("POST", "/skills/needy/dependencies");
    expectProblem(failed, "adapter_offline");
    expect(failed.body.detail).toMatch(/Download it.*needy failed/);
    expect((await ask("DELETE", "/skills/needy")).status).toBe(204);
    expectProblem(await ask("POST", "/skills/needy/dependencies"), "not_found");
  });
});

describe("the gateway itself", () => {
  it("the gateway itself reports its version, its models and its security, and can be reloaded", async () => {
    const runtime = (await ask("GET", "")).body;
    expect(runtime).toMatchObject({ name: "OpenClaw", version: "2026.9.6", managers: ["agents", "skills", "system"] });
    expect(runtime.limits).toMatchObject({ maxMessageBytes: 26_214_400 });
    expect((await ask("GET", "/system/models")).body.data).toContainEqual(
      expect.objectContaining({ id: gatewayModel, configured: true, available: true }),
    );
    expect((await ask("POST", "/system/reload")).body).toEqual({ detail: null });
    const audit = await ask("GET", "/system/security");
    expect(audit.body).toMatchObject({ summary: { critical: expect.any(Number) }, findings: expect.any(Array) });
    expect(audit.text).not.toContain(gateway.stateDir);
    expect(audit.text).not.toContain(gateway.token);
    expectProblem(await ask("GET", "/system/security", {}, far), "not_supported");
  });

  it("the gateway itself is reported as unavailable while it is down, and works again after its restart", async () => {
    await make("lasting", { description: "It stays." });
    await put("/agents/lasting/files/SOUL.md", "# Lasting");
    await gateway.kill();
    const down = await ask("GET", "/agents/lasting");
    expectProblem(down, "adapter_offline");
    expectProblem(await ask("DELETE", "/agents/lasting"), "adapter_offline");
    await gateway.restart();
    await untilThere(near);
    expect((await ask("GET", "/agents/lasting")).body).toMatchObject({ id: "lasting", description: "It stays." });
    expect((await ask("GET", "/agents/lasting/files/SOUL.md")).body.content).toBe("# Lasting");
    expect((await ask("DELETE", "/agents/lasting")).status).toBe(204);
  });
});

import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import { GatewayError } from "../../../adapters/openclaw/gateway-error.ts";
import { createManagers } from "../../../adapters/openclaw/manage/create-managers.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { createManagersFixture, refusalOf } from "./manage-fixture.ts";

const refused = (code: string, words: RegExp | string = /./) => ({ name: "ManagementError", code, message: expect.stringMatching(words) });
const failure = (code: string, message: string, more: object = {}) => new GatewayError({ code, message, ...more });
const failing = (error: Error) => () => {
  throw error;
};

describe("the gateway", () => {
  it("the gateway reports its version, uptime and limits", async () => {
    expect(await createManagersFixture().managers.getRuntimeInfo()).toMatchObject({
      name: "OpenClaw",
      version: "2026.9.6",
      uptimeSeconds: expect.any(Number),
      limits: { maxMessageBytes: 26_214_400, maxConcurrentRuns: 8, configWritesPerMinute: 30 },
    });
  });

  it("the gateway lists every model once, by the name that tasks use, with its availability", async () => {
    const [model] = [{ id: "test-model", provider: "custom", name: "Model" }];
    const other = { id: "large", provider: "acme", available: false };
    const { managers } = createManagersFixture({
      "models.list": ({ view }) => ({ models: view === "all" ? [model, other] : [model] }),
    });
    expect(await managers.getModelCatalog()).toEqual([
      { ...model, id: "custom/test-model", configured: true, credentials: "static" },
      { ...other, id: "acme/large", configured: false, credentials: null },
    ]);
  });

  it("the gateway gets a retried request for its models while its configuration changes", async () => {
    const busy = failing(failure("UNAVAILABLE", "Error: Model catalog is not ready. Retry after Gateway startup or refresh finishes."));
    const answers = [busy, busy];
    const { managers } = createManagersFixture({
      "models.list": () => answers.shift()?.() ?? { models: [{ id: "one", provider: "custom" }] },
    });
    expect(await managers.getModelCatalog()).toMatchObject([{ id: "custom/one", configured: true }]);
  });

  it("the gateway gets a retried request to reload its secrets after a concurrent write", async () => {
    const answers = [failing(failure("UNAVAILABLE", "secrets.reload failed")), () => ({ ok: true, warningCount: 2 })];
    const { managers, called } = createManagersFixture({ "secrets.reload": () => answers.shift()?.() });
    expect(await managers.reloadConfig()).toEqual({ detail: "2 secret(s) could not be read." });
    expect(called("secrets.reload")).toHaveLength(2);
  });

  it("the gateway is unavailable when its configuration is not valid", async () => {
    const issues = [{ path: "gateway.port", message: "Expected number in /srv/openclaw/config.json" }];
    const { managers } = createManagersFixture({ "config.get": () => ({ valid: false, hash: "h", issues, sourceConfig: {} }) });
    const words = /not valid: gateway\.port: Expected number in <path>$/;
    await expect(managers.reloadConfig()).rejects.toMatchObject(refused("unavailable", words));
  });
});

describe("the security posture", () => {
  /** A substitute for the OpenClaw program that records its arguments and counts its starts. */
  async function auditWith(source: string) {
    const root = await temporaryDirectory();
    const program = path.join(root, "openclaw.mjs");
    await writeFile(
      program,
      `import { appendFileSync } from "node:fs";\nappendFileSync(${JSON.stringify(path.join(root, "starts"))}, ".");\n${source}`,
    );
    const bench = createManagersFixture(
      {},
      { stateDir: "/srv/openclaw/state", command: [process.execPath, program], dataDir: path.join(root, "data") },
    );
    const { readFile } = await import("node:fs/promises");
    return { ...bench, starts: async () => (await readFile(path.join(root, "starts"), "utf8")).length };
  }
  const report = `const { OPENCLAW_STATE_DIR: state, OPENCLAW_CONFIG_PATH: config, BRIDGE_SECRET: secret } = process.env;
    const findings = [{ checkId: "fs", severity: "warn", title: "Readable", detail: state + "/x", argv: process.argv.slice(2), config, secret }];
    console.log(JSON.stringify({ ts: 1, summary: { critical: 0, warn: 1, info: 0 }, findings }, null, 2));`;

  it("the security posture is the result of OpenClaw's audit, cached for all callers and run with a minimal environment", async () => {
    vi.stubEnv("BRIDGE_SECRET", "secret");
    const { managers, starts } = await auditWith(report);
    const [one, two] = await Promise.all([managers.getSecurityPosture(), managers.getSecurityPosture()]);
    const finding = {
      checkId: "fs",
      severity: "warn",
      title: "Readable",
      detail: "$OPENCLAW_STATE_DIR/x",
      argv: ["security", "audit", "--json"],
      config: "/srv/openclaw/config.json",
    };
    expect(one).toEqual({ ts: 1, summary: { critical: 0, warn: 1, info: 0 }, findings: [finding] });
    expect(two).toEqual(one);
    expect(await managers.getSecurityPosture()).toEqual(one);
    expect(await starts()).toBe(1);
  });

  it("the security posture is computed again after a failed audit", async () => {
    const { managers, starts } = await auditWith(`console.log("no such command");`);
    await expect(managers.getSecurityPosture()).rejects.toMatchObject(refused("unavailable", /unknown format/));
    await expect(managers.getSecurityPosture()).rejects.toMatchObject(refused("unavailable"));
    expect(await starts()).toBe(2);
  });

  it("the security posture is not supported without a program on the gateway's host", async () => {
    await expect(createManagersFixture().managers.getSecurityPosture()).rejects.toMatchObject(
      refused("not_supported", /BRIDGE_OPENCLAW_COMMAND/),
    );
  });
});

describe("an error", () => {
  it.each([
    [failure("DISCONNECTED", "There is no connection to the gateway."), "unavailable", /no connection.*may have been made/],
    [failure("TIMEOUT", "The gateway did not respond to x within 30 s."), "unavailable", /within 30 s.*may have been made/],
    [refusalOf("tooOften"), "unavailable", /rate limit.*Try again in 2\d s/],
    [failure("UNAVAILABLE", "Error: closing: /srv/openclaw/state/agents/writer/db.sqlite"), "unavailable", /closing: <path>/],
    [failure("UNAVAILABLE", "startup-sidecars", { retryAfterMs: 1_200 }), "unavailable", /Try again in 2 s/],
    [refusalOf("noScope"), "unavailable", /scope operator\.admin/],
    [failure("TOO_LARGE", "The call has 30 bytes; the gateway accepts at most 25."), "invalid_request", /at most 25/],
    [refusalOf("staleConfig"), "stale_write", /changed/],
    [refusalOf("unknownField"), "invalid_request", /"nope"/],
    [refusalOf("noAgent"), "not_found", /"nobody" not found/],
  ])("an error of the gateway is converted: %s becomes %s", async (error, code, words) => {
    const { managers } = createManagersFixture({ "secrets.reload": failing(error), "system.info": failing(error) });
    await expect(managers.getRuntimeInfo()).rejects.toMatchObject(refused(code, words));
  });

  it("an error names the method that an older gateway lacks", async () => {
    const { managers, calls } = createManagersFixture({}, { without: ["system.info"] });
    await expect(managers.getRuntimeInfo()).rejects.toMatchObject(refused("not_supported", /2026\.9\.6 has no method system\.info/));
    expect(calls.map(({ method }) => method)).not.toContain("system.info");
  });

  it("an error reports a response in an unknown format", async () => {
    const { managers } = createManagersFixture({ "system.info": () => ({ uptime: "long" }) });
    await expect(managers.getRuntimeInfo()).rejects.toMatchObject(refused("unavailable", /system\.info in an unknown format/));
  });

  it("an error is returned by every operation while the adapter is not running, and a bug is not converted", async () => {
    await expect(createManagers(() => null).listAgents()).rejects.toMatchObject(refused("unavailable", /not running/));
    await expect(createManagers(() => null).deleteAgent("x")).rejects.toMatchObject(refused("unavailable", /not running/));
    await expect(createManagersFixture({ "system.info": failing(new TypeError("x")) }).managers.getRuntimeInfo()).rejects.toThrow(
      TypeError,
    );
  });
});

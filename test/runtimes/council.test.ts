import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { CouncilReport, PanelReport } from "bridge-council";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { createCodexAdapter } from "../../adapters/codex/index.ts";
import { createOpenCodeAdapter } from "../../adapters/opencode/index.ts";
import { createAdapterConfig } from "../conformance/adapter-config.ts";
import { startBridgeProgram } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { councilRoles } from "./council-roles.ts";
import { createModelServer } from "./model-server/server.ts";
import { runtimesPath } from "./programs.ts";

const model = await createModelServer();
afterAll(() => model.close());

async function openBridge(environment: Record<string, string> = {}) {
  const dataDir = await temporaryDirectory();
  const bridge = await startBridgeProgram(dataDir, {
    PATH: [runtimesPath(), path.dirname(process.execPath), "/usr/bin:/bin"].join(path.delimiter),
    BRIDGE_ADAPTERS: "claude,codex,bridge-claude,deep-council",
    BRIDGE_MAX_CONCURRENT: "3",
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "sk-of-the-runtime-suite",
    OPENAI_BASE_URL: `${model.url}/v1`,
    OPENAI_API_KEY: "sk-of-the-runtime-suite",
    ...environment,
  });
  return {
    workspace: path.join(dataDir, "workspaces/default/reviewer"),
    /** Holds a council. Returns its report, and the tasks of its questions. */
    async hold<T>(provider: string, changes: object = {}) {
      const accepted = await bridge.call("POST", "/api/v2/dispatch", {
        taskId: "c1",
        provider,
        agentId: "reviewer",
        timeoutSeconds: 110,
        bridgeInput: {
          session_id: "login-review",
          scope: "login.ts and session.ts",
          task_description: "Review the login.",
          task_type: "review",
          domains: ["security"],
          context_summary: `A web service. ${model.scenario(councilRoles)}`,
          ...changes,
        },
      });
      expect(accepted.status).toBe(202);
      const read = async (target: string) => (await (await bridge.call("GET", target)).json()) as Record<string, unknown>;
      await expect.poll(async () => (await read("/api/v2/tasks/c1"))["state"], { timeout: 110_000 }).toBe("completed");
      const { result } = (await read("/api/v2/tasks/c1")) as { result: { outputs: T; usage: { inputTokens: number }; costUsd?: number } };
      const { data } = (await read("/api/v2/tasks?parentTaskId=c1&limit=100")) as { data: { provider: string; state: string }[] };
      return { report: result.outputs, usage: result.usage, children: data };
    },
  };
}

test("a standard council on Claude Code resumes the session of each role and reports their findings", async () => {
  const { hold, workspace } = await openBridge();
  const { report, usage, children } = await hold<PanelReport>("bridge-claude");
  expect(report.roles.filter(({ answered }) => !answered)).toEqual([]);
  expect(report).toMatchObject({
    bridge: "claude",
    model_family: "anthropic/claude",
    status: "COMPLETED",
    capability_profile: "inspect",
    agents_spawned: 4,
    domains_covered: ["security", "database"],
    debate_rounds: 1,
    verdict: "CONCERNS",
    outputs: [
      { id: "C002", status: "revised", severity: "HIGH", title: "Passwords are in the logs", agent: "Application Security Engineer" },
      { id: "C003", status: "discovered", severity: "INFO", domain: "cross-domain", agent: "Integration Checker" },
      { id: "C004", status: "discovered", severity: "MEDIUM", domain: "database", agent: "Database Engineer" },
    ],
    withdrawn_outputs: [{ id: "C001", status: "withdrawn", title: "Tokens never expire" }],
    disputed_outputs: [],
    notes: [],
  });
  // Two rounds of three roles, and the expert of the added domain.
  expect(children.map(({ provider, state }) => `${provider} ${state}`)).toEqual(Array(7).fill("claude completed"));
  expect(usage.inputTokens).toBeGreaterThan(0);
  expect(report.prompt_size_chars_r2).toBeGreaterThan(0);
  // Only the first message describes a role to the model, and the resumed session contains it in the second round.
  const requests = model.requests.map(({ body }) => JSON.stringify(body)).filter((body) => body.includes("Challenges to them:"));
  expect(requests.length).toBeGreaterThan(0);
  for (const body of requests) expect(body.split("You are the Application Security Engineer of this council.").length - 1).toBe(1);
  const [log = "", summary = ""] = report.artifacts;
  const events = readFileSync(path.join(workspace, log), "utf8")
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { event: string }).event);
  expect(events[0]).toBe("bridge_start");
  expect(events.at(-1)).toBe("bridge_complete");
  expect(events.filter((event) => event === "challenge")).toHaveLength(2);
  expect(events.filter((event) => event === "domain_added")).toHaveLength(1);
  expect(readFileSync(path.join(workspace, summary), "utf8")).toContain("### C002 HIGH: Passwords are in the logs");
});

test("a deep council on Claude Code and Codex merges the findings of both and debates them", async () => {
  const { hold, workspace } = await openBridge();
  const { report, children } = await hold<CouncilReport>("deep-council", { providers: ["claude", "codex"] });
  expect(report.bridge_reports.map(({ bridge, status, debate_rounds, verdict }) => [bridge, status, debate_rounds, verdict])).toEqual([
    ["claude", "COMPLETED", 1, "CONCERNS"],
    ["codex", "COMPLETED", 1, "CONCERNS"],
  ]);
  expect([...report.roles, ...report.bridge_reports.flatMap(({ roles: asked }) => asked)].filter(({ answered }) => !answered)).toEqual([]);
  const both = ["claude", "codex"];
  expect(report).toMatchObject({
    type: "deep-council",
    status: "COMPLETED",
    verdict: "CONCERNS",
    partial_coverage: false,
    bridges_available: both,
    bridges_skipped: [],
    domains_covered: ["security", "database"],
    debate_rounds: 1,
    multi_source_confirmed: [
      { id: "D001", severity: "HIGH", status: "revised", title: "Passwords are in the logs", confirmed_by: both, escalated: true },
      { id: "D002", severity: "LOW", status: "downgraded", title: "Rows hold secrets in the clear", confirmed_by: both },
      { id: "D003", severity: "INFO", title: "Caches outlive sessions", confirmed_by: both },
    ],
    single_source_findings: [],
    disputed_findings: [],
  });
  // Seven questions to each runtime, and three questions of the debate, which the runtimes answer in turn.
  expect(children.filter(({ state }) => state === "completed")).toHaveLength(17);
  expect(report.artifacts.map((file) => path.extname(file))).toEqual([".jsonl", ".json", ".md"]);
  const written = JSON.parse(readFileSync(path.join(workspace, report.artifacts[1] ?? ""), "utf8")) as CouncilReport;
  expect(written.multi_source_confirmed).toEqual(report.multi_source_confirmed);
});

test.each([
  ["codex", createCodexAdapter, {}],
  ["opencode", createOpenCodeAdapter, { OPENAI_BASE_URL: model.url }],
])("the models of %s are listed, and the second list comes from a cache", async (name, createAdapter, own) => {
  const dataDir = await temporaryDirectory();
  const adapter = createAdapter();
  const PATH = [runtimesPath(), path.dirname(process.execPath), "/usr/bin:/bin"].join(path.delimiter);
  await adapter.initialize(createAdapterConfig(dataDir, { env: { PATH, OPENAI_API_KEY: "sk-of-the-runtime-suite", ...own } }));
  onTestFinished(() => adapter.shutdown());
  const models = await adapter.listModels();
  expect(models?.length).toBeGreaterThan(3);
  const form = name === "codex" ? /^[\w.-]+$/ : /^openai\/\S+$/;
  expect(models?.filter((id) => !form.test(id))).toEqual([]);
  expect(await adapter.listModels()).toBe(models);
  expect(model.requests.filter(({ path: asked }) => asked.includes("models"))).toEqual([]);
});

test("a model in the settings that OpenCode does not know is reported as a warning, and the default model is used", async () => {
  const { hold, workspace } = await openBridge({
    BRIDGE_ADAPTERS: "opencode,bridge-opencode",
    BRIDGE_OPENCODE_CONFIG: JSON.stringify({
      model: "scripted/known",
      provider: {
        scripted: {
          npm: "@ai-sdk/openai-compatible",
          options: { baseURL: `${model.url}/v1`, apiKey: "x" },
          models: { known: { limit: { context: 100_000, output: 10_000 } } },
        },
      },
      enabled_providers: ["scripted"],
    }),
  });
  mkdirSync(workspace, { recursive: true });
  writeFileSync(path.join(workspace, ".bridge-settings.json"), JSON.stringify({ bridges: { opencode: { models: ["scripted/gone"] } } }));
  const { report } = await hold<PanelReport>("bridge-opencode", { intensity: "quick" });
  expect(report).toMatchObject({
    status: "COMPLETED",
    verdict: "CONCERNS",
    model_validation_warnings: [{ model: "scripted/gone", reason: "not found in provider model list" }],
    outputs: [{ id: "O001" }, { id: "O002" }, { id: "O003", title: "Not examined: database" }],
  });
});

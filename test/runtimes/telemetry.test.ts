import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import type { Connection } from "#contract";
import { dispatchTask, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { startCollector } from "../traces/start-collector.ts";
import { createModelServer } from "./model-server/server.ts";
import { runtimesPath } from "./programs.ts";
import { type Runtime, runtimes } from "./table/runtimes.ts";

const model = await createModelServer();
afterAll(() => model.close());

/** The variables that an operator sets and passes on, so that a runtime exports its own telemetry. */
const telemetry: Partial<Record<Runtime, Record<string, string>>> = {
  claude: { CLAUDE_CODE_ENABLE_TELEMETRY: "1", CLAUDE_CODE_ENHANCED_TELEMETRY_BETA: "1" },
  "claude-agent-sdk": { CLAUDE_CODE_ENABLE_TELEMETRY: "1", CLAUDE_CODE_ENHANCED_TELEMETRY_BETA: "1" },
  gemini: { GEMINI_TELEMETRY_ENABLED: "true", GEMINI_TELEMETRY_TARGET: "local", GEMINI_TELEMETRY_OTLP_PROTOCOL: "http" },
};

/** Runs a task with a shell command on a Bridge that exports to the same collector as the runtime. */
async function runWithTelemetry(runtime: Runtime, connection: Connection) {
  const collector = await startCollector();
  onTestFinished(collector.close);
  const home = await temporaryDirectory();
  await writeCodexConfiguration(home, collector.settings.OTEL_EXPORTER_OTLP_ENDPOINT);
  const own = {
    ...telemetry[runtime],
    ...(runtime === "gemini" && { GEMINI_TELEMETRY_OTLP_ENDPOINT: collector.settings.OTEL_EXPORTER_OTLP_ENDPOINT }),
    OTEL_TRACES_EXPORTER: "otlp",
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
    ...collector.settings,
  };
  const prefix = `BRIDGE_${runtime.toUpperCase().replaceAll("-", "_")}`;
  const bridge = await startBridgeProgram(await temporaryDirectory(), {
    PATH: [runtimesPath(), path.dirname(process.execPath), "/usr/bin:/bin"].join(path.delimiter),
    BRIDGE_ADAPTERS: runtime,
    ...runtimes[runtime].environment(model.url),
    ...own,
    HOME: home,
    // Only over cli can a task use the home directory of the operator.
    ...(runtime === "codex" && connection === "cli" && { BRIDGE_CODEX_HOME: "user" }),
    [`${prefix}_ENV`]: Object.keys(own).join(","),
    ...(connection !== "in-process" && { [`${prefix}_CONNECTION`]: connection }),
  });
  const message = `Go. ${model.scenario([{ tools: [{ kind: "shell", command: "echo done > done.txt" }] }, { text: "It ran." }])}`;
  await dispatchTask(bridge, { taskId: "t", agentId: "a", provider: runtime, model: runtimes[runtime].model, message, profile: "modify" });
  expect(await taskInState(bridge, "t", "completed", 60_000)).toMatchObject({ result: { connection } });
  const findRun = () => collector.spans.find(({ name }) => name.startsWith("invoke_agent"));
  await expect.poll(findRun, { timeout: 20_000 }).toBeDefined();
  return { run: findRun(), collector };
}

test.each<[Runtime, Connection]>([
  ["claude", "acp"],
  ["claude", "cli"],
  ["claude-agent-sdk", "in-process"],
])("%s over %s exports spans below the run of the task", async (runtime, connection) => {
  const { run, collector } = await runWithTelemetry(runtime, connection);
  const own = () => collector.spans.filter(({ resource }) => resource["service.name"] === "claude-code");
  await expect.poll(() => own().map(({ name }) => name), { timeout: 20_000 }).toContain("claude_code.tool");
  expect(new Set(own().map(({ traceId }) => traceId))).toEqual(new Set([run?.traceId]));
  expect(own().map(({ parentSpanId }) => parentSpanId)).toContain(run?.spanId);
});

test.each<Connection>(["http-api", "cli"])("opencode over %s exports traces that do not belong to the task", async (connection) => {
  const { run, collector } = await runWithTelemetry("opencode", connection);
  // OpenCode exports JSON, and Bridge protobuf.
  const own = () => collector.requests.filter(({ headers, body }) => headers["content-type"] === "application/json" && isTraces(body));
  // The spans of the task itself, and not only those of OpenCode's start.
  await expect.poll(() => own().some(({ body }) => body.includes("SessionPrompt")), { timeout: 20_000 }).toBe(true);
  expect(own().filter(({ body }) => body.includes(run?.traceId ?? ""))).toEqual([]);
});

test.each<[Runtime, Connection]>([
  ["codex", "acp"],
  ["codex", "cli"],
  ["gemini", "acp"],
  ["gemini", "cli"],
])("%s over %s exports nothing to the collector of the settings", async (runtime, connection) => {
  const { collector } = await runWithTelemetry(runtime, connection);
  // Bridge exports the run after the programs of the task have ended.
  expect(new Set(collector.requests.map(({ path: target, headers }) => `${target} ${headers["content-type"]}`))).toEqual(
    new Set(["/v1/traces application/x-protobuf"]),
  );
  expect(collector.spans.map(({ resource }) => resource["service.name"])).toEqual(collector.spans.map(() => "bridge"));
});

/** Turns on the telemetry of Codex in a home directory. */
async function writeCodexConfiguration(home: string, origin: string): Promise<void> {
  const exporter = (target: string): string => `{ otlp-http = { endpoint = "${origin}${target}", protocol = "binary" } }`;
  await mkdir(path.join(home, ".codex"));
  await writeFile(
    path.join(home, ".codex/config.toml"),
    `[otel]\nexporter = ${exporter("/v1/logs")}\ntrace_exporter = ${exporter("/v1/traces")}\n`,
  );
}

const isTraces = (body: Buffer): boolean => body.includes('"resourceSpans"');

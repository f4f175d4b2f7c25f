import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { startBridgeProgram } from "../support/bridge-program.ts";
import { until } from "../support/until.ts";
import { type ReceivedSpan, startCollector } from "../traces/start-collector.ts";
import { councilRoles } from "./council-roles.ts";
import { createModelServer } from "./model-server/server.ts";
import { runtimesPath } from "./programs.ts";

const FILE = path.resolve(import.meta.dirname, "../../docs/images/trace-of-a-council.svg");
const [WIDTH, LEFT, ROW] = [960, 330, 22];
const colors: Readonly<Record<string, string>> = { SERVER: "#8b5cf6", CLIENT: "#0ea5e9", INTERNAL: "#64748b" };

await main();

/** Runs a council on Claude Code and Codex, whose models are scripted, and draws the spans that Bridge exports. */
async function main(): Promise<void> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "bridge-trace-"));
  const [collector, model] = await Promise.all([startCollector(), createModelServer()]);
  let stop = async (): Promise<void> => {};
  try {
    const bridge = await startBridgeProgram(
      dataDir,
      {
        ...collector.settings,
        PATH: [runtimesPath(), path.dirname(process.execPath), "/usr/bin:/bin"].join(path.delimiter),
        BRIDGE_DATABASE_URL: `sqlite:${path.join(dataDir, "bridge.db")}`,
        BRIDGE_ADAPTERS: "claude,codex,deep-council",
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: "a key of a scripted model",
        OPENAI_BASE_URL: `${model.url}/v1`,
        OPENAI_API_KEY: "a key of a scripted model",
      },
      () => {},
    );
    stop = async () => {
      bridge.signal("SIGKILL");
      await bridge.exited;
    };
    await bridge.call("POST", "/api/v2/dispatch", {
      ...{ taskId: "login-review", provider: "deep-council", agentId: "reviewer", timeoutSeconds: 110 },
      bridgeInput: {
        ...{ scope: "login.ts and session.ts", task_description: "Review the login.", task_type: "review", domains: ["security"] },
        ...{ intensity: "standard", providers: ["claude", "codex"] },
        context_summary: `A web service. ${model.scenario(councilRoles)}`,
      },
    });
    const hasEnded = () => collector.spans.some(({ name }) => name === "invoke_workflow deep-council");
    if (!(await until(hasEnded, 110_000))) throw new Error("The council did not end.");
    const task = (await (await bridge.call("GET", "/api/v2/tasks/login-review")).json()) as { state: string };
    if (task.state !== "completed") throw new Error(`The council ended as ${task.state}.`);
    await writeFile(FILE, draw(collector.unique().filter(({ name }) => name !== "bridge.queue")));
    console.log(`${collector.unique().length} spans, drawn in ${FILE}`);
  } finally {
    await stop();
    await Promise.all([collector.close(), model.close()]);
    await rm(dataDir, { recursive: true, force: true });
  }
}

function draw(spans: readonly ReceivedSpan[]): string {
  const rows = order(spans);
  const from = Math.min(...spans.map(({ startAt }) => startAt));
  const to = Math.max(...spans.map(({ endAt }) => endAt));
  const x = (at: number): number => LEFT + ((at - from) / (to - from)) * (WIDTH - LEFT - 70);
  const lines = rows.map(({ span, depth }, index) => {
    const y = index * ROW + 8;
    const width = Math.max(2, x(span.endAt) - x(span.startAt));
    return [
      `<text x="${8 + depth * 16}" y="${y + 13}">${label(span)}</text>`,
      `<rect x="${x(span.startAt).toFixed(1)}" y="${y + 3}" width="${width.toFixed(1)}" height="12" rx="2" fill="${colors[span.kind]}"/>`,
      `<text x="${(x(span.startAt) + width + 6).toFixed(1)}" y="${y + 13}" class="time">${span.endAt - span.startAt} ms</text>`,
    ].join("");
  });
  const height = rows.length * ROW + 16;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="The spans of a council">
<style>text{font:12px ui-monospace,monospace;fill:#0f172a}.time{fill:#475569}</style>
<rect width="${WIDTH}" height="${height}" fill="#f8fafc"/>
${lines.join("\n")}
</svg>
`;
}

/** The name of a span, with the runtime of a run. */
function label({ name, attributes }: ReceivedSpan): string {
  return name.startsWith("invoke_agent") ? `${name} (${String(attributes["bridge.provider"])})` : name;
}

/** The spans in the order of a tree, each with its depth. */
function order(spans: readonly ReceivedSpan[]): { span: ReceivedSpan; depth: number }[] {
  const visit = (parent: string, depth: number): { span: ReceivedSpan; depth: number }[] =>
    spans
      .filter(({ parentSpanId }) => parentSpanId === parent)
      .toSorted((a, b) => a.startAt - b.startAt || a.endAt - b.endAt)
      .flatMap((span) => [{ span, depth }, ...visit(span.spanId, depth + 1)]);
  return visit("", 0);
}

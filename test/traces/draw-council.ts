import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { createPanelAdapter } from "../../adapters/council/index.ts";
import { createApp } from "../../src/app/create-app.ts";
import { loadConfig } from "../../src/app/load-config.ts";
import { createInMemoryAdapter } from "../adapters/in-memory-adapter.ts";
import { runScript } from "../browser/console/agent-scripts.ts";
import { until } from "../support/until.ts";
import { type ReceivedSpan, startCollector } from "./start-collector.ts";

const FILE = path.resolve(import.meta.dirname, "../../docs/images/trace-of-a-council.svg");
const [WIDTH, LEFT, ROW] = [960, 330, 22];
const colors: Readonly<Record<string, string>> = { SERVER: "#8b5cf6", CLIENT: "#0ea5e9", INTERNAL: "#64748b" };

await main();

/** Runs a council on a scripted runtime, and draws the spans that Bridge exports. */
async function main(): Promise<void> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "bridge-trace-"));
  const collector = await startCollector();
  const { config } = loadConfig({ BRIDGE_PORT: "0", BRIDGE_DATA_DIR: dataDir, BRIDGE_MAX_CONCURRENT: "8", ...collector.settings });
  // Each answer takes a moment, so that the order of the questions is visible.
  const run: typeof runScript = async (...call) => {
    await delay(150);
    return runScript(...call);
  };
  const app = await createApp(config, pino({ level: "silent" }), {
    adapters: [
      { provider: "claude", adapter: createInMemoryAdapter({ provider: "claude", run }) },
      { provider: "bridge-claude", adapter: createPanelAdapter("claude") },
    ],
  });
  try {
    const url = await app.start();
    const token = (await readFile(path.join(dataDir, "token"), "utf8")).trim();
    await fetch(`${url}/api/v2/dispatch`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", prefer: "wait=20" },
      body: JSON.stringify({
        ...{ taskId: "login-review", provider: "bridge-claude", agentId: "reviewer" },
        bridgeInput: {
          ...{ scope: "login.ts and session.ts", task_description: "Review the login.", task_type: "review", intensity: "standard" },
          ...{ domains: ["security", "api"], provider: "claude" },
        },
      }),
    });
    await until(() => collector.spans.some(({ name }) => name.startsWith("invoke_workflow")), 20_000);
    await writeFile(FILE, draw(collector.unique()));
  } finally {
    await app.close();
    await collector.close();
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
      `<text x="${8 + depth * 16}" y="${y + 13}">${span.name}</text>`,
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

/** The spans in the order of a tree, each with its depth. */
function order(spans: readonly ReceivedSpan[]): { span: ReceivedSpan; depth: number }[] {
  const visit = (parent: string, depth: number): { span: ReceivedSpan; depth: number }[] =>
    spans
      .filter(({ parentSpanId }) => parentSpanId === parent)
      .toSorted((a, b) => a.startAt - b.startAt || a.endAt - b.endAt)
      .flatMap((span) => [{ span, depth }, ...visit(span.spanId, depth + 1)]);
  return visit("", 0);
}

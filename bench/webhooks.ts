import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { loadavg, tmpdir } from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { dispatchTask, startBridgeProgram } from "../test/support/bridge-program.ts";
import { until } from "../test/support/until.ts";
import { quantile } from "./statistics.ts";

const usage = `Usage: node bench/webhooks.ts [--approvals n] [--at-once n] [--database-url postgres://…]

Measures the time from the moment when a task asks for an approval to the arrival of the webhook.
`;
const GOAL_MS = 1000;

const { values } = parseArgs({
  options: {
    approvals: { type: "string", default: "400" },
    "at-once": { type: "string", default: "4" },
    "database-url": { type: "string" },
    help: { type: "boolean", short: "h" },
  },
});
if (values.help === true) process.stdout.write(usage);
else process.exitCode = await main(Number(values.approvals), Number(values["at-once"]));

async function main(approvals: number, atOnce: number): Promise<number> {
  const load = loadavg()[0]?.toFixed(2);
  const delays = await measure(approvals, atOnce);
  const [p50, p95, highest] = [quantile(delays, 0.5), quantile(delays, 0.95), quantile(delays, 1)];
  const engine = values["database-url"] === undefined ? "SQLite" : "PostgreSQL";
  console.log(`${delays.length} approvals on ${engine}, ${atOnce} at once, at a load of ${load}`);
  console.log(`p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms, highest ${highest.toFixed(0)} ms; goal: p95 under ${GOAL_MS} ms`);
  return p95 < GOAL_MS ? 0 : 1;
}

/** Returns one delay for each approval, in ms. */
async function measure(approvals: number, atOnce: number): Promise<number[]> {
  const directory = mkdtempSync(path.join(tmpdir(), "bridge-bench-"));
  const delays: number[] = [];
  const receiver = createServer(async (request, response) => {
    const at = Date.now();
    const { timestamp } = JSON.parse((await buffer(request)).toString()) as { timestamp: string };
    delays.push(at - Date.parse(timestamp));
    response.end();
  });
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const file = path.join(directory, "webhooks.json");
  const secrets = [`whsec_${Buffer.alloc(32).toString("base64")}`];
  writeFileSync(file, JSON.stringify([{ name: "bench", url, secrets, types: ["tool.approval_requested"] }]));
  let kill = (): void => {};
  const bridge = await startBridgeProgram(
    directory,
    {
      BRIDGE_DATABASE_URL: values["database-url"] ?? `sqlite:${path.join(directory, "bridge.db")}`,
      BRIDGE_ADAPTERS: path.join(import.meta.dirname, "../test/webhooks/asking-adapter.ts"),
      BRIDGE_WEBHOOKS_FILE: file,
      BRIDGE_PUBLIC_URL: "http://127.0.0.1",
      BRIDGE_MAX_CONCURRENT: "10000",
      BRIDGE_LOG_LEVEL: "info",
    },
    (act) => {
      kill = act as () => void;
    },
  );
  try {
    for (let asked = 0; asked < approvals; asked += atOnce) {
      const ids = Array.from({ length: atOnce }, (_, index) => `t-${Date.now()}-${asked + index}`);
      await Promise.all(ids.map((taskId) => dispatchTask(bridge, { taskId, agentId: taskId, message: "ask", approvals: "ask" })));
      await until(() => delays.length >= asked + atOnce, 60_000);
    }
  } finally {
    kill();
    await bridge.exited;
    receiver.close();
    rmSync(directory, { recursive: true });
  }
  return delays;
}

import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { startReceiver } from "../../support/start-receiver.ts";
import { askUntil } from "../../support/until.ts";
import { openSocket } from "../../websocket/socket-client.ts";

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge();
});
afterAll(() => bridge.close());

const series = async () => (await bridge.call("GET", "/metrics")).text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));

test("names that clients choose create no series and cannot break a line", async () => {
  const names = Array.from({ length: 30 }, (_, number) => `made-up-${number}"} 1\u2028{x="`);
  const socket = await openSocket(`${bridge.url}/ws/bridge`, { headers: { authorization: "Bearer secret-alpha" } });
  const attack = async (provider: string) => {
    expect((await bridge.dispatch({ provider })).status).toBe(422);
    expect((await bridge.dispatch({ agentId: provider })).status).toBe(400);
    await socket.ask(provider, {});
    await bridge.call("GET", `/api/v2/tasks/${encodeURIComponent(provider)}`);
  };
  await attack(names[0] as string);
  const before = (await series()).length;
  for (const name of names) await attack(name);
  await socket.close();
  const after = await series();
  expect(after.length).toBe(before);
  for (const line of after) expect(line).toMatch(/^[a-z_:]+(\{[^{}]*\})? (\S+)$/);
  expect(after.join("\n")).not.toContain("made-up");
});

const OPEN_METRICS = "application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
const valueOfMetric = async (name: string): Promise<number> => {
  const line = (await series()).find((one) => one.startsWith(`${name} `) || one.startsWith(`${name}{`));
  return Number(line?.split(" ").at(-1));
};

test("a scraper that accepts OpenMetrics gets exemplars with trace ids, and others get the Prometheus format", async () => {
  const [traceId, parentId] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
  const headers = { traceparent: `00-${traceId}-${parentId}-01`, prefer: "wait=10" };
  const { origin, posts, close } = await startReceiver();
  onTestFinished(close);
  expect((await bridge.dispatch({ callbackUrl: `${origin}/traced` }, { headers })).body.state).toBe("completed");
  expect((await bridge.dispatch({}, { headers: { prefer: "wait=10" } })).body.state).toBe("completed");
  await expect.poll(() => posts.length).toBe(1);
  await expect.poll(() => valueOfMetric("bridge_callback_delivery_lag_seconds_count")).toBe(1);

  for (let scrape = 0; scrape < 2; scrape += 1) {
    const open = await bridge.call("GET", "/metrics", { headers: { accept: OPEN_METRICS } });
    expect(open.headers.get("content-type")).toBe("application/openmetrics-text; version=1.0.0; charset=utf-8");
    expect(open.text).toMatch(/\n# EOF\n$/);
    expect(open.text).toContain("# TYPE bridge_dispatches counter\nbridge_dispatches_total{");
    const traced = open.text.split("\n").filter((line) => line.includes(` # {trace_id="${traceId}"} `));
    const names = new Set(traced.map((line) => line.slice(0, line.indexOf("{"))));
    expect([...names]).toEqual([
      "bridge_execution_duration_seconds_bucket",
      "bridge_queue_wait_seconds_bucket",
      "bridge_callback_delivery_lag_seconds_bucket",
    ]);
  }

  for (const accept of ["*/*", "text/plain", "application/openmetrics-text;q=0, text/plain"]) {
    const plain = await bridge.call("GET", "/metrics", { headers: { accept } });
    expect(plain.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(plain.text).toContain("# TYPE bridge_dispatches_total counter\nbridge_dispatches_total{");
    expect(plain.text).not.toContain("trace_id");
  }
});

test("the metrics contain the tool calls that wait for a decision, until it is made", async () => {
  expect(await valueOfMetric("bridge_approvals_waiting")).toBe(0);
  expect(await valueOfMetric("bridge_approval_oldest_seconds")).toBe(0);
  const { taskId } = (await bridge.dispatch({ message: "ask" })).body;
  await expect.poll(() => valueOfMetric("bridge_approvals_waiting")).toBe(1);
  const waited = await valueOfMetric("bridge_approval_oldest_seconds");
  expect(waited).toBeGreaterThan(0);
  expect(await valueOfMetric("bridge_approval_oldest_seconds")).toBeGreaterThan(waited);
  const list = async () => (await bridge.call("GET", "/api/v2/approvals?state=pending")).body;
  // The metric counts an approval from its request on, and lists contain it once it is stored.
  const { data } = await askUntil(list, (answer) => answer.data.length === 1);
  await bridge.call("POST", `/api/v2/approvals/${data[0].approvalId}`, { body: { decision: "approve" } });
  await expect.poll(async () => (await bridge.call("GET", `/api/v2/tasks/${taskId}`)).body.state).toBe("completed");
  expect(await valueOfMetric("bridge_approvals_waiting")).toBe(0);
  expect(await valueOfMetric("bridge_approval_oldest_seconds")).toBe(0);
});

test("the metrics contain the age of the oldest pending callback, the disk and the process", async () => {
  expect(await valueOfMetric("bridge_callback_oldest_pending_seconds")).toBe(0);
  // Nothing listens there, and the first retry is an hour later.
  const patient = await startBridge({ BRIDGE_CALLBACK_RETRIES: "1", BRIDGE_CALLBACK_BACKOFF_MS: "3600000" });
  onTestFinished(() => patient.close());
  await patient.dispatch({ callbackUrl: "http://127.0.0.1:1/" }, { headers: { prefer: "wait=10" } });
  const scrape = async () => (await patient.call("GET", "/metrics")).text;
  const ageIn = (text: string): number => Number(/^bridge_callback_oldest_pending_seconds (.+)$/m.exec(text)?.[1]);
  await expect.poll(async () => ageIn(await scrape())).toBeGreaterThan(0.01);
  const text = await scrape();
  for (const name of ['bridge_disk_free_bytes{directory="data"}', 'bridge_disk_size_bytes{directory="data"}', "process_open_fds"])
    expect(text).toMatch(new RegExp(`^${name.replace(/[{}]/g, "\\$&")} [1-9]`, "m"));
  expect(text).toMatch(/^process_(cpu_seconds_total|resident_memory_bytes|start_time_seconds) [1-9.]/m);
});

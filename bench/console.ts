import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import SqliteDatabase from "better-sqlite3";
import type { Browser, CDPSession, Page } from "playwright-core";
import { openChromium } from "../test/browser/open-chromium.ts";
import { type BridgeProgram, dispatchTask, startBridgeProgram } from "../test/support/bridge-program.ts";
import { until } from "../test/support/until.ts";
import { fillDatabase } from "./fill-database.ts";

const usage = `Usage: node bench/console.ts [--minutes n] [--rate n] [--no-file]

Measures the console in Chromium: a list of 10,000 tasks, a task of 5,000 events, and pages that are open while tasks emit events.
`;
const GOALS = { listMs: 300, longTaskMs: 50, taskMs: 500, mainThread: 0.25, heapMegabytes: 20, disconnects: 0 } as const;
const LISTED_TASKS = 10_000;
const LONG_TASK_EVENTS = 5_000;
/** Tasks that share the rate of the events. One of them is open. */
const TALKERS = 10;
const WARM_UP_SECONDS = 10;
const STARTUP_SECONDS = 20;
const TASK_LIMIT_MS = 60_000;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    rate: { type: "string", default: "1000" },
    "no-file": { type: "boolean", default: false },
    help: { type: "boolean", short: "h" },
  },
});
if (values.help === true) process.stdout.write(usage);
else process.exitCode = await main(Number(values.minutes), Number(values.rate));

interface Row {
  what: string;
  goal: string;
  result: string;
  isMet: boolean;
}

async function main(minutes: number, rate: number): Promise<number> {
  const load = loadavg()[0]?.toFixed(2);
  await using cleanup = new AsyncDisposableStack();
  const dataDir = mkdtempSync(path.join(tmpdir(), "bridge-bench-"));
  cleanup.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  await fillDatabase(path.join(dataDir, "bridge.db"), LISTED_TASKS);
  const bridge = await startBridge(dataDir, cleanup);
  const browser = cleanup.adopt(await openChromium(), (opened) => opened.close());
  const rows = [...(await measureList(bridge, browser, dataDir)), ...(await measureLongTask(bridge, browser, dataDir))];
  rows.push(...(await measureLive(bridge, browser, { dataDir, minutes, rate })));
  const text = `# The console under load

\`npm run bench -- console\`: Chromium ${browser.version()} and Bridge on one machine, load before ${load}. The database contains ${LISTED_TASKS.toLocaleString("en")} ended
tasks. Times begin when the browser starts to load the page. "Open pages" are the overview and one task, each in a tab, for ${minutes} minutes,
while ${TALKERS} tasks emit ${rate.toLocaleString("en")} events/s in total.

| measurement | goal | result | |
|---|---|--:|---|
${rows.map(({ what, goal, result, isMet }) => `| ${what} | ${goal} | ${result} | ${isMet ? "met" : "**missed**"} |`).join("\n")}
`;
  console.log(text);
  if (!values["no-file"]) writeFileSync(path.join(import.meta.dirname, "console.md"), text);
  return rows.every(({ isMet }) => isMet) ? 0 : 1;
}

async function startBridge(dataDir: string, cleanup: AsyncDisposableStack): Promise<BridgeProgram> {
  const settings = {
    BRIDGE_DATABASE_URL: `sqlite:${path.join(dataDir, "bridge.db")}`,
    BRIDGE_ADAPTERS: path.join(import.meta.dirname, "noop-adapter.ts"),
    BRIDGE_MAX_CONCURRENT: String(2 * TALKERS),
    BRIDGE_DRAIN_SECONDS: "0",
    BRIDGE_SANDBOX: "off",
  };
  const bridge = await startBridgeProgram(dataDir, settings, () => {});
  cleanup.defer(async () => {
    bridge.signal("SIGTERM");
    await bridge.exited;
  });
  return bridge;
}

/** Opens a page of the console in a new profile, signed in. Long tasks are collected in `longTasks`. */
async function openConsole(browser: Browser, dataDir: string): Promise<Page> {
  const context = await browser.newContext();
  const token = readFileSync(path.join(dataDir, "token"), "utf8").trim();
  await context.addInitScript(`
    sessionStorage.setItem("bridge.token", ${JSON.stringify(token)});
    globalThis.longTasks = [];
    new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: "longtask", buffered: true });
  `);
  return context.newPage();
}

/**
 * Opens a page, and returns the milliseconds from the first response of the API that `from` matches until the page contains the text,
 * looked up in each frame without a layout.
 */
async function measureMs(page: Page, { url, text, from }: { url: string; text: string; from: RegExp | null }): Promise<number> {
  const shown = `new Promise((resolve) => {
    const look = () => document.body?.textContent.includes(${JSON.stringify(text)}) ? resolve(performance.now()) : requestAnimationFrame(look);
    look();
  })`;
  await page.goto(url, { waitUntil: "commit" });
  const shownAt = (await page.evaluate(shown)) as number;
  if (from === null) return shownAt;
  const responses = (await page.evaluate(
    `performance.getEntriesByType("resource").map(({ name, responseEnd }) => [name, responseEnd])`,
  )) as [string, number][];
  return shownAt - (responses.find(([name]) => from.test(name))?.[1] ?? 0);
}

async function measureList(bridge: BridgeProgram, browser: Browser, dataDir: string): Promise<Row[]> {
  const page = await openConsole(browser, dataDir);
  const url = `${bridge.url}/ui/tasks`;
  const ms = await measureMs(page, { url, text: `Look into it ${LISTED_TASKS}`, from: /\/api\/v2\/tasks\?/ });
  await page.evaluate("void longTasks.splice(0)");
  // Playwright's locators would search the texts of all rows, in the page's own time.
  const lastRow = countRows(dataDir) - 1;
  const isComplete = (): Promise<unknown> => page.evaluate(`document.querySelector('[data-index="${lastRow}"]') !== null`);
  for (let step = 0; step < 2_000 && !(await isComplete()); step += 1) {
    await page.mouse.wheel(0, 2_000);
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(resolve))");
  }
  const isOldestShown = await isComplete();
  const longest = Math.max(0, ...((await page.evaluate("longTasks")) as number[]));
  await page.context().close();
  const count = LISTED_TASKS.toLocaleString("en");
  return [
    row(`list of ${count} tasks, first rows visible after the first page arrives`, ms, GOALS.listMs, "ms"),
    row(`longest task of the main thread while scrolling to the oldest of ${count} tasks`, longest, GOALS.longTaskMs, "ms"),
    row("tasks that scrolling does not reach", isOldestShown ? 0 : 1, 0, ""),
  ];
}

async function measureLongTask(bridge: BridgeProgram, browser: Browser, dataDir: string): Promise<Row[]> {
  const talk = { eventsPerSecond: LONG_TASK_EVENTS, seconds: 1 };
  await dispatchTask(bridge, { taskId: "long", agentId: "bench", message: "Talk.", metadata: { talk } });
  await until(async () => (await readState(bridge, "long")) === "completed", TASK_LIMIT_MS);
  const page = await openConsole(browser, dataDir);
  // The page shows the timeline of an ended task when it has all events, and offers the entries after the first page.
  const text = "later entries";
  const ms = await measureMs(page, { url: `${bridge.url}/ui/tasks/long`, text, from: null });
  const longest = Math.max(0, ...((await page.evaluate("longTasks")) as number[]));
  await page.context().close();
  return [
    row(`task of ${LONG_TASK_EVENTS.toLocaleString("en")} events, complete since the load of the page`, ms, GOALS.taskMs, "ms"),
    { what: "longest task of the main thread meanwhile", goal: "none", result: `${longest.toFixed(0)} ms`, isMet: true },
  ];
}

async function readState(bridge: BridgeProgram, taskId: string): Promise<string> {
  const answer = await bridge.call("GET", `/api/v2/tasks/${taskId}`);
  return ((await answer.json()) as { state: string }).state;
}

async function measureLive(
  bridge: BridgeProgram,
  browser: Browser,
  { dataDir, minutes, rate }: { dataDir: string; minutes: number; rate: number },
): Promise<Row[]> {
  const seconds = minutes * 60;
  const talk = { eventsPerSecond: rate / TALKERS, seconds: STARTUP_SECONDS + WARM_UP_SECONDS + seconds };
  for (let talker = 0; talker < TALKERS; talker += 1)
    await dispatchTask(bridge, { taskId: `talker-${talker}`, agentId: `agent-${talker}`, message: "Talk.", metadata: { talk } });
  const overview = await openConsole(browser, dataDir);
  await overview.goto(`${bridge.url}/ui/`);
  const task = await overview.context().newPage();
  await task.goto(`${bridge.url}/ui/tasks/talker-0`);
  await task.getByText("Turn 1", { exact: false }).first().waitFor();
  const meters = await Promise.all([overview, task].map(createMeter));
  await delay(WARM_UP_SECONDS * 1000);
  const before = await Promise.all(meters.map((meter) => meter()));
  const emittedBefore = countEvents(dataDir);
  await delay(seconds * 1000);
  const after = await Promise.all(meters.map((meter) => meter()));
  const emitted = countEvents(dataDir) - emittedBefore;
  const disconnects = await readMetric(bridge, "bridge_sse_slow_disconnect_total");
  await overview.context().close();
  const use = (index: number) => {
    const [from, to] = [before[index], after[index]] as [Use, Use];
    return { share: (to.busySeconds - from.busySeconds) / (to.at - from.at), grown: (to.heapBytes - from.heapBytes) / 1e6 };
  };
  const named = ["overview", "task"].map((name, index) => ({ name, ...use(index) }));
  return [
    { what: "events/s that were emitted", goal: `${rate}`, result: (emitted / seconds).toFixed(0), isMet: emitted / seconds > rate * 0.95 },
    ...named.map(({ name, share }) => row(`open pages: main thread of the ${name}`, share * 100, GOALS.mainThread * 100, "%")),
    ...named.map(({ name, grown }) => row(`open pages: growth of the heap of the ${name}`, grown, GOALS.heapMegabytes, "MB")),
    row("open pages: disconnects of slow readers", disconnects, GOALS.disconnects, ""),
  ];
}

interface Use {
  /** Seconds by the clock of the browser. */
  at: number;
  busySeconds: number;
  heapBytes: number;
}

/** Creates a function that reads what a page has used. */
async function createMeter(page: Page): Promise<() => Promise<Use>> {
  const devtools: CDPSession = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable");
  return async () => {
    await devtools.send("HeapProfiler.collectGarbage");
    const { metrics } = await devtools.send("Performance.getMetrics");
    const read = (wanted: string): number => metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN;
    return { at: read("Timestamp"), busySeconds: read("TaskDuration"), heapBytes: read("JSHeapUsedSize") };
  };
}

/** Returns how many events Bridge has stored. */
function countEvents(dataDir: string): number {
  return readCount(dataDir, "SELECT value FROM counter WHERE name = 'event'");
}

/** Returns the number of rows of the list, which shows child tasks on request. */
function countRows(dataDir: string): number {
  return readCount(dataDir, "SELECT count(*) FROM task WHERE parent_seq IS NULL");
}

function readCount(dataDir: string, sql: string): number {
  const database = new SqliteDatabase(path.join(dataDir, "bridge.db"), { readonly: true });
  try {
    return Number(database.prepare(sql).pluck().get());
  } finally {
    database.close();
  }
}

async function readMetric(bridge: BridgeProgram, name: string): Promise<number> {
  const text = await (await bridge.call("GET", "/metrics")).text();
  const values = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? ([\\d.e+]+)$`, "gm"))].map(([, value]) => Number(value));
  return values.reduce((sum, value) => sum + value, 0);
}

function row(what: string, value: number, goal: number, unit: string): Row {
  return {
    what,
    goal: `at most ${goal} ${unit}`.trim(),
    result: `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`.trim(),
    isMet: value <= goal,
  };
}

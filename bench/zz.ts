import { mkdtempSync, readFileSync } from "node:fs";
import path from "node:path";
import { openChromium } from "../test/browser/open-chromium.ts";
import { dispatchTask, startBridgeProgram } from "../test/support/bridge-program.ts";
import { fillDatabase } from "./fill-database.ts";
const dataDir = mkdtempSync("/tmp/zz-");
await fillDatabase(path.join(dataDir, "bridge.db"), 10000);
const bridge = await startBridgeProgram(dataDir, { BRIDGE_DATABASE_URL: `sqlite:${path.join(dataDir, "bridge.db")}`, BRIDGE_ADAPTERS: path.join(import.meta.dirname, "noop-adapter.ts"), BRIDGE_SANDBOX: "off" }, () => {});
const browser = await openChromium();
const context = await browser.newContext();
const token = readFileSync(path.join(dataDir, "token"), "utf8").trim();
await context.addInitScript(`sessionStorage.setItem("bridge.token", ${JSON.stringify(token)}); globalThis.longTasks=[];
new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration,startTime }) => [Math.round(startTime),duration]))).observe({ type: "longtask", buffered: true });`);
const page = await context.newPage();
const cdp = await context.newCDPSession(page);
await cdp.send("Profiler.enable");
const top = (profile: any) => { const self: any = {}; profile.samples.forEach((s: number, i: number) => (self[s] = (self[s] ?? 0) + profile.timeDeltas[i])); const by: any = {}; for (const n of profile.nodes) { const k = n.callFrame.functionName + ":" + n.callFrame.lineNumber+":"+n.callFrame.columnNumber; by[k] = (by[k] ?? 0) + (self[n.id] ?? 0); } return Object.entries(by).sort((a: any, b: any) => b[1] - a[1]).slice(0, 14).map(([k, v]: any) => `${(v / 1000).toFixed(0)} ms ${k}`); };
await dispatchTask(bridge, { taskId: "long", agentId: "bench", message: "Talk.", metadata: { talk: { eventsPerSecond: 5000, seconds: 1 } } });
await page.goto(`${bridge.url}/ui/tasks`);
await page.getByText("Look into it 10000").waitFor();
await cdp.send("Profiler.start");
const t0 = Date.now();
let last = "";
for (let i = 0; i < 400; i++) { await page.mouse.wheel(0, 4000); await page.evaluate("new Promise((resolve) => requestAnimationFrame(resolve))"); last = await page.evaluate("[document.documentElement.scrollHeight, scrollY, document.querySelector('.window')?.style.height, document.querySelectorAll('.task-row').length].join(' ')") as string; }
console.log(Date.now() - t0, "ms", last, await page.evaluate("document.querySelector('.visible').innerText.slice(-300)"));
console.log(top((await cdp.send("Profiler.stop")).profile).join("\n"));
console.log(await page.evaluate("JSON.stringify(longTasks)"));
await new Promise(r=>setTimeout(r,3000));
for (const run of [1,2]) {
await cdp.send("Profiler.start");
await page.goto(`${bridge.url}/ui/tasks/long`);
await page.getByText("5002 events").waitFor();
console.log(run, await page.evaluate("performance.now()"), await page.evaluate(`JSON.stringify(performance.getEntriesByType("resource").map(({name,startTime,responseEnd})=>[name.slice(-60),Math.round(startTime),Math.round(responseEnd)]))`));
console.log(top((await cdp.send("Profiler.stop")).profile).join("\n"));
}
await browser.close(); bridge.signal("SIGTERM"); await bridge.exited;

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { loadavg } from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { SliceResult } from "./driver.ts";
import type { Slice } from "./measure-slice.ts";
import { type RunningServer, type ServerName, startDriver, startServer } from "./servers.ts";
import { median, quantile } from "./statistics.ts";

/** Measures how long new clients wait for their first response while other clients keep the server busy with tasks. */
const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "9" },
    /** Comma-separated directories of other checkouts of Bridge, which are measured too. */
    against: { type: "string" },
    "no-file": { type: "boolean", default: false },
  },
});
const NEW_CLIENTS = 256;
const BUSY_CLIENTS = 64;
const WARM_UP: Slice = { inFlight: BUSY_CLIENTS, leastTasks: 3000, leastMs: 0 };
const LOAD: Slice = { inFlight: BUSY_CLIENTS, leastTasks: 0, leastMs: 4000 };
/** The load is steady when the new clients arrive. */
const LEAD_IN_MS = 1500;

interface Round {
  firstP50Ms: number;
  firstP99Ms: number;
  /** Accept time of the clients that were connected before. */
  busyP50Ms: number;
}

const others = (options.against?.split(",") ?? []).map((checkout): ServerName => `bridge@${path.resolve(checkout)}`);
const rounds = new Map<ServerName, Round[]>((["floor", "bridge", ...others] as const).map((name) => [name, []]));
const servers = new Map<ServerName, RunningServer>();
const loadBefore = loadavg()[0] ?? Number.NaN;
const driver = startDriver();
try {
  for (const name of rounds.keys()) {
    const server = await startServer(name);
    servers.set(name, server);
    await run(server, WARM_UP);
  }
  for (let round = 0; round < Number(options.rounds); round += 1) {
    const order = [...servers];
    for (const [name, server] of round % 2 === 0 ? order : order.toReversed()) rounds.get(name)?.push(await measureRound(server));
  }
} finally {
  for (const server of servers.values()) await server.stop();
  await driver.stop();
}
const text = render();
console.log(text);
if (!options["no-file"]) writeFileSync(path.join(import.meta.dirname, "connections.md"), text);

async function measureRound(server: RunningServer): Promise<Round> {
  const load = run(server, LOAD);
  await delay(LEAD_IN_MS);
  const times = await Promise.all(Array.from({ length: NEW_CLIENTS }, () => measureFirstResponse(server)));
  return { firstP50Ms: median(times), firstP99Ms: quantile(times, 0.99), busyP50Ms: (await load).acceptP50Ms };
}

/** Opens a connection and requests an unknown path, which every server answers with 404 and without storage. */
async function measureFirstResponse({ target }: RunningServer): Promise<number> {
  const startedAt = performance.now();
  const sent = request(`${target.address}/unknown`, { agent: false }).end();
  const [response] = await once(sent, "response");
  const time = performance.now() - startedAt;
  await buffer(response);
  return time;
}

function run({ target }: RunningServer, slice: Slice): Promise<SliceResult> {
  return driver.request<SliceResult>({ target, slice });
}

function render(): string {
  const rows = [...rounds].map(([name, own]) => {
    const cell = (kind: keyof Round) => {
      const values = own.map((round) => round[kind]);
      return `${median(values).toFixed(0)} (${quantile(values, 0.1).toFixed(0)} to ${quantile(values, 0.9).toFixed(0)})`;
    };
    return `| ${name} | ${cell("firstP50Ms")} | ${cell("firstP99Ms")} | ${cell("busyP50Ms")} |`;
  });
  return [
    "# New connections under load",
    "",
    `${NEW_CLIENTS} new clients while ${BUSY_CLIENTS} connected clients run tasks; ${options.rounds} rounds; load average before ${loadBefore.toFixed(2)}. Medians with p10 to p90 of the rounds.`,
    "",
    "| server | first response p50 ms | p99 ms | accept p50 of the connected clients, ms |",
    "|---|--:|--:|--:|",
    ...rows,
    "",
  ].join("\n");
}

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { cpus, loadavg } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type PinnedProcess, startPinned } from "./pinned-process.ts";
import { DRIVER_CORE, SERVER_CORE } from "./servers.ts";
import { median, quantile } from "./statistics.ts";

/** Compares the model proxy with a bare `pipe()`: the time to the first byte of a stream, and CPU time per MiB. */
const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "9" },
    "no-file": { type: "boolean", default: false },
  },
});
/** Goals: time that the proxy adds to the first byte, and its CPU time compared with that of the pipe. */
const MAX_ADDED_MS = 5;
const MAX_RATIO = 2;
const STREAMS = 64;
/** A stream of tokens: so many events, with a pause after each. */
const TOKENS = { events: 50, pauseMs: 20 };
/** Streams without a pause, which TCP joins into large chunks. */
const FAST = { events: 4_000, pauseMs: 0 };
/** Calls of each stream of tokens, one after the other. */
const CALLS = 3;
const ROUTES = ["direct", "pipe", "proxy"] as const;

type Route = (typeof ROUTES)[number];
interface Subject {
  url: string;
  key: string;
  process: PinnedProcess | null;
}
interface Measurement {
  firstByteMs: number[];
  cpuMsPerMiB: number;
}

const event = `event: content_block_delta\ndata: ${JSON.stringify({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "A token of text. ".repeat(6) } })}\n\n`;
const USAGE = { input_tokens: 120, cache_read_input_tokens: 20, output_tokens: 30 };
const START = `data: ${JSON.stringify({ type: "message_start", message: { model: "m", usage: USAGE } })}\n\n`;
const END = `data: ${JSON.stringify({ type: "message_delta", usage: USAGE })}\n\ndata: {"type":"message_stop"}\n\n`;

execFileSync("taskset", ["-acp", String(DRIVER_CORE), String(process.pid)], { stdio: "ignore" });
const loadBefore = loadavg()[0] ?? Number.NaN;
const agent = new Agent({ keepAlive: true, maxSockets: STREAMS });
const vendor = createServer((incoming, response) => void answer(incoming, response));
vendor.listen(0, "127.0.0.1");
await once(vendor, "listening");
const vendorUrl = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
const subjects = new Map<Route, Subject>();
const measured = new Map<string, Measurement[]>();
try {
  for (const route of ROUTES) subjects.set(route, await openSubject(route));
  // The first round is not recorded, because Node compiles the code in it.
  for (let round = -1; round < Number(options.rounds); round += 1) {
    for (const route of round % 2 === 0 ? ROUTES : ROUTES.toReversed()) {
      for (const kind of ["tokens", "fast"] as const) {
        const measurement = await measure(subjects.get(route) as Subject, kind);
        if (round >= 0) measured.set(`${route} ${kind}`, [...(measured.get(`${route} ${kind}`) ?? []), measurement]);
      }
    }
  }
} finally {
  for (const { process: child } of subjects.values()) await child?.stop();
  vendor.close();
  vendor.closeAllConnections();
  agent.destroy();
}
const text = render();
console.log(text);
if (!options["no-file"]) writeFileSync(path.join(import.meta.dirname, "proxy.md"), text);

async function openSubject(route: Route): Promise<Subject> {
  if (route === "direct") return { url: vendorUrl, key: "none", process: null };
  const child = startPinned(SERVER_CORE, [process.execPath, "proxy-server.ts", route, vendorUrl]);
  const { url, key } = (await child.readFirstLine()) as { url: string; key: string };
  return { url, key, process: child };
}

/** Answers as a vendor does: the first event at once, then the others, and the usage at the end. */
async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { events, pauseMs } = incoming.url === "/v1/messages?tokens" ? TOKENS : FAST;
  incoming.resume();
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(START);
  for (let count = 0; count < events; count += 1) {
    if (pauseMs > 0) await delay(pauseMs);
    if (!response.write(event)) await once(response, "drain");
  }
  response.end(END);
}

async function measure({ url, key, process: child }: Subject, kind: "tokens" | "fast"): Promise<Measurement> {
  const before = await readCpuMs(child);
  const firstByteMs: number[] = [];
  let bytes = 0;
  const read = async (stream: number): Promise<void> => {
    // Calls of tokens begin evenly while the others run. Without a pause, all begin at once.
    if (kind === "tokens") await delay((stream / STREAMS) * TOKENS.events * TOKENS.pauseMs);
    const start = performance.now();
    const call = request(`${url}/v1/messages?${kind}`, { method: "POST", agent, headers: { "x-api-key": key } });
    call.end("{}");
    const [message] = (await once(call, "response")) as [IncomingMessage];
    message.once("data", () => firstByteMs.push(performance.now() - start));
    for await (const chunk of message) bytes += (chunk as Buffer).length;
  };
  const readAll = async (stream: number): Promise<void> => {
    for (let call = 0; call < (kind === "tokens" ? CALLS : 1); call += 1) await read(call === 0 ? stream : 0);
  };
  await Promise.all(Array.from({ length: STREAMS }, (_, stream) => readAll(stream)));
  const cpuMs = (await readCpuMs(child)) - before;
  return { firstByteMs, cpuMsPerMiB: cpuMs / (bytes / 1024 ** 2) };
}

async function readCpuMs(child: PinnedProcess | null): Promise<number> {
  return child === null ? 0 : (await child.request<{ cpuMs: number }>({})).cpuMs;
}

function render(): string {
  const of = (route: Route, kind: string): Measurement[] => measured.get(`${route} ${kind}`) ?? [];
  const firstBytes = (route: Route, part: number): number[] => of(route, "tokens").map(({ firstByteMs }) => quantile(firstByteMs, part));
  const cpu = (route: Route, kind: string): number => median(of(route, kind).map(({ cpuMsPerMiB }) => cpuMsPerMiB));
  const rows = ROUTES.map((route) => {
    const cells = [median(firstBytes(route, 0.5)), median(firstBytes(route, 0.99)), cpu(route, "tokens"), cpu(route, "fast")];
    return `| ${route} | ${cells.map((value) => value.toFixed(2)).join(" | ")} |`;
  });
  const addedTo = (route: Route): number => {
    const others = firstBytes(route, 0.99);
    return median(firstBytes("proxy", 0.99).map((value, round) => value - (others[round] ?? Number.NaN)));
  };
  const added = addedTo("direct");
  const ratios = ["tokens", "fast"].map((kind) => cpu("proxy", kind) / cpu("pipe", kind));
  const verdict = (isMet: boolean): string => (isMet ? "met" : "**missed**");
  return `# The model proxy

Node ${process.versions.node}, ${cpus().length} cores, ${options.rounds} rounds; load average before ${loadBefore.toFixed(2)}.

\`npm run bench -- proxy\`: ${STREAMS} streams at once of a vendor on the same machine, directly, through a bare \`pipe()\` of Node and through the
model proxy, which also reads the usage. The driver and the vendor run on one core, and the pipe or the proxy on the other. "Tokens" is a
stream of ${TOKENS.events} events with a pause of ${TOKENS.pauseMs} ms after each, and "fast" one of ${FAST.events.toLocaleString("en")} events without a pause. The time to the first byte
is that of the first kind, from the start of the request, where calls begin evenly while ${STREAMS - 1} others run. CPU time is that of the
whole process. All values are medians of the rounds.

| | first byte p50 ms | first byte p99 ms | CPU ms/MiB, tokens | CPU ms/MiB, fast |
|---|--:|--:|--:|--:|
${rows.join("\n")}

| goal | result | |
|---|--:|---|
| first byte, p99 of the proxy minus p99 directly, at most ${MAX_ADDED_MS} ms | ${added.toFixed(2)} ms | ${verdict(added <= MAX_ADDED_MS)} |
| first byte, p99 of the proxy minus p99 of the pipe, without a goal | ${addedTo("pipe").toFixed(2)} ms | |
| CPU time of the proxy x that of the pipe, tokens, at most ${MAX_RATIO} | ${ratios[0]?.toFixed(2)} | ${verdict((ratios[0] ?? Number.NaN) <= MAX_RATIO)} |
| CPU time of the proxy x that of the pipe, fast, at most ${MAX_RATIO} | ${ratios[1]?.toFixed(2)} | ${verdict((ratios[1] ?? Number.NaN) <= MAX_RATIO)} |
`;
}

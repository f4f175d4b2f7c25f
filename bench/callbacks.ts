import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { loadavg } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import type { Sender, Step } from "./callback-sender.ts";
import { type PinnedProcess, startPinned } from "./pinned-process.ts";
import { readCpuTimeMs } from "./process-use.ts";
import { median, quantile } from "./statistics.ts";

const usage = `Usage: node bench/callbacks.ts [--rounds n] [--callbacks n] [--no-file]

Measures the CPU time that Bridge uses for a callback, and compares it with a POST of the same body by undici alone.
`;
/** Ratio of the CPU time of a POST by Bridge's worker to the CPU time of Pool.request. */
const GOAL = 2.5;
const SENDER_CORE = 0;
const RECEIVERS = 32;
const IN_FLIGHT = 64;
/** Rounds that are not counted: they compile the code. */
const WARM_UP_ROUNDS = 3;
const senders: readonly Sender[] = ["request", "post", "settle"];

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "15" },
    callbacks: { type: "string", default: "2000" },
    "no-file": { type: "boolean", default: false },
    help: { type: "boolean", short: "h" },
  },
});
if (values.help === true) process.stdout.write(usage);
else process.exitCode = await main(Number(values.rounds), Number(values.callbacks));

/** CPU time of one callback in µs, by sender. */
type Round = Record<Sender, number>;

async function main(rounds: number, callbacks: number): Promise<number> {
  const load = loadavg()[0]?.toFixed(2);
  const receivers = Array.from({ length: RECEIVERS }, () =>
    createServer((request, response) => request.resume().once("end", () => response.writeHead(204).end())),
  );
  const ports = await Promise.all(
    receivers.map(async (receiver) => {
      await once(receiver.listen(0, "127.0.0.1"), "listening");
      return String((receiver.address() as AddressInfo).port);
    }),
  );
  const script = path.join(import.meta.dirname, "callback-sender.ts");
  const processes = Object.fromEntries(
    senders.map((sender) => [sender, startPinned(SENDER_CORE, [process.execPath, script, sender, ...ports])]),
  ) as Record<Sender, PinnedProcess>;
  const times: Round[] = [];
  for (let round = -WARM_UP_ROUNDS; round < rounds; round += 1) {
    const time: Round = { request: 0, post: 0, settle: 0 };
    for (const sender of round % 2 === 0 ? senders : senders.toReversed()) time[sender] = await measure(processes[sender], callbacks);
    if (round >= 0) times.push(time);
  }
  await Promise.all(Object.values(processes).map((child) => child.stop()));
  for (const receiver of receivers) receiver.close().closeAllConnections();
  return report(times, { rounds, callbacks, load });
}

async function measure(child: PinnedProcess, callbacks: number): Promise<number> {
  const size = { clients: IN_FLIGHT, perClient: Math.ceil(callbacks / IN_FLIGHT) };
  await child.request<string>({ step: "prepare", ...size } satisfies Step);
  const before = readCpuTimeMs(child.pid);
  await child.request<string>({ step: "send", ...size } satisfies Step);
  return ((readCpuTimeMs(child.pid) - before) * 1000) / (size.clients * size.perClient);
}

function report(
  times: readonly Round[],
  { rounds, callbacks, load }: { rounds: number; callbacks: number; load: string | undefined },
): number {
  const computeRatios = (sender: Sender): number[] => times.map((time) => time[sender] / time.request);
  const renderRow = (what: string, sender: Sender, verdict: string): string => {
    const ratios = computeRatios(sender);
    const spread = `${median(ratios).toFixed(2)} [${quantile(ratios, 0.1).toFixed(2)}..${quantile(ratios, 0.9).toFixed(2)}]`;
    return `| ${what} | ${median(times.map((time) => time[sender])).toFixed(1)} µs | ${spread} | ${verdict} |`;
  };
  const isMet = median(computeRatios("post")) <= GOAL;
  const text = `# The cost of a callback

\`npm run bench:callbacks\`: CPU time of a delivered callback, with ${IN_FLIGHT} in flight to ${RECEIVERS} receivers; medians of ${rounds} rounds of
${callbacks} callbacks, in turn, load before ${load}. The ratio is the median of the ratios of the rounds, with p10 and p90. Goal: at most ${GOAL} for a
POST by Bridge's worker, which signs the body, looks up and checks the destination, and limits the time and the response.

| sender | CPU time | ratio | |
|---|--:|--:|---|
${renderRow("`Pool.request` of undici", "request", "reference")}
${renderRow("Bridge's worker, without its store", "post", isMet ? "met" : "**missed**")}
${renderRow("Bridge's worker, with its store: settled durably", "settle", "no goal")}
`;
  console.log(`\n${text}`);
  if (!values["no-file"]) writeFileSync(path.join(import.meta.dirname, "callbacks.md"), text);
  return isMet ? 0 : 1;
}

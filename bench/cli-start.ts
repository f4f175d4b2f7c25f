import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { median, quantile } from "./statistics.ts";

/** Compares the time of `bridge --help` with that of the smallest Node program, in turn. */
const { values: options } = parseArgs({
  options: { rounds: { type: "string", default: "30" }, "no-file": { type: "boolean", default: false } },
});
/** Goal on an idle machine. The ratio depends less on the machine. */
const MAX_MS = 120;

const program = path.resolve(import.meta.dirname, "../packages/bridge-cli/src/bridge.js");
const commands: Readonly<Record<string, readonly string[]>> = {
  "node -e 0": ["-e", "0"],
  "bridge --help": [program, "--help"],
  "bridge dispatch --help": [program, "dispatch", "--help"],
};

const loadBefore = loadavg()[0] ?? Number.NaN;
const cache = mkdtempSync(path.join(tmpdir(), "bridge-bench-"));
const times = new Map(Object.keys(commands).map((name): [string, number[]] => [name, []]));
try {
  // The first start of each compiles the code and fills the cache.
  for (const args of Object.values(commands)) measure(args);
  for (let round = 0; round < Number(options.rounds); round += 1)
    for (const [name, args] of Object.entries(commands)) times.get(name)?.push(measure(args));
} finally {
  rmSync(cache, { recursive: true, force: true });
}
const text = render();
console.log(text);
if (!options["no-file"]) writeFileSync(path.join(import.meta.dirname, "cli-start.md"), text);

/** Returns the time from the creation of the process to its end, in ms. */
function measure(args: readonly string[]): number {
  const startedAt = performance.now();
  execFileSync(process.execPath, args, { env: { PATH: process.env["PATH"], XDG_CACHE_HOME: cache }, stdio: "ignore" });
  return performance.now() - startedAt;
}

function render(): string {
  const bare = times.get("node -e 0") ?? [];
  const rows = [...times].map(([name, own]) => {
    const ratios = own.map((ms, round) => ms / (bare[round] ?? Number.NaN));
    const verdict = name === "bridge --help" ? (median(own) <= MAX_MS ? "met" : "**missed**") : "";
    return `| \`${name}\` | ${median(own).toFixed(0)} | ${quantile(own, 0.9).toFixed(0)} | ${median(ratios).toFixed(2)} | ${verdict} |`;
  });
  return [
    "# Start of the command line",
    "",
    `Node ${process.versions.node}, ${cpus().length} cores, ${options.rounds} rounds; load average before ${loadBefore.toFixed(2)}.`,
    "",
    `The time from the creation of the process to its end, with a filled compile cache. Goal: \`bridge --help\` within ${MAX_MS} ms. The ratio compares runs of the same round.`,
    "",
    "| command | median ms | p90 ms | x `node -e 0` | goal |",
    "|---|--:|--:|--:|---|",
    ...rows,
    "",
  ].join("\n");
}

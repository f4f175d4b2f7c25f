import { copyFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import path from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openStore } from "../src/store/open-sqlite.ts";
import { fillDatabase } from "./fill-database.ts";
import { median } from "./statistics.ts";

/** Measures how long Bridge's store takes to open a database of an earlier schema, which it upgrades, and to open it again. */
const { values: options } = parseArgs({
  options: {
    tasks: { type: "string", default: "100000" },
    rounds: { type: "string", default: "5" },
    "no-file": { type: "boolean", default: false },
  },
});
/** Goal for the longest block of the event loop. */
const MAX_TURN_MS = 100;
/** The last schema that stored each result twice. */
const EARLIER_SCHEMA = 7;
const RESOLUTION_MS = 1;
/** Pause before and after the work, because the monitor measures only between two expirations of its timer. */
const SETTLE_MS = 50;

interface Opening {
  openMs: number;
  longestMs: number;
  sizeBefore: number;
  sizeAfter: number;
}

const tasks = Number(options.tasks);
const directory = mkdtempSync(path.join(tmpdir(), "bridge-upgrade-"));
const loadBefore = loadavg()[0] ?? Number.NaN;
try {
  const original = path.join(directory, "original.db");
  await fillDatabase(original, tasks, { schema: EARLIER_SCHEMA });
  const upgrades: Opening[] = [];
  const repeated: Opening[] = [];
  for (let round = 0; round < Number(options.rounds); round += 1) {
    const file = path.join(directory, `round-${round}.db`);
    copyFileSync(original, file);
    upgrades.push(await measureOpening(file));
    repeated.push(await measureOpening(file));
    rmSync(file);
    console.log(
      `round ${round + 1}: upgrade ${upgrades.at(-1)?.openMs.toFixed(1)} ms, opened again ${repeated.at(-1)?.openMs.toFixed(1)} ms`,
    );
  }
  const text = render(upgrades, repeated);
  console.log(`\n${text}`);
  if (!options["no-file"]) writeFileSync(path.join(import.meta.dirname, "upgrade.md"), text);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** Opens the store and checks its pages, as a start of Bridge does. */
async function measureOpening(file: string): Promise<Opening> {
  const sizeBefore = statSync(file).size;
  const loop = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  loop.enable();
  await delay(SETTLE_MS);
  const startedAt = performance.now();
  const store = openStore({ file });
  const openMs = performance.now() - startedAt;
  await store.checkPages();
  await delay(SETTLE_MS);
  loop.disable();
  await store.close();
  return { openMs, longestMs: loop.max / 1e6 - RESOLUTION_MS, sizeBefore, sizeAfter: statSync(file).size };
}

function render(upgrades: readonly Opening[], repeated: readonly Opening[]): string {
  const row = (name: string, openings: readonly Opening[]): string => {
    const middle = (kind: keyof Opening, digits: number, unit = 1) =>
      (median(openings.map((opening) => opening[kind])) / unit).toFixed(digits);
    const verdict = Number(middle("longestMs", 1)) <= MAX_TURN_MS ? "met" : "**missed**";
    return `| ${name} | ${middle("openMs", 1)} | ${middle("longestMs", 1)} | ${middle("sizeBefore", 1, 1e6)} | ${middle("sizeAfter", 1, 1e6)} | ${verdict} |`;
  };
  return `# The upgrade of a database

\`npm run bench:upgrade\`: the store opens a database of ${tasks} ended tasks with their results, events and callbacks in the schema of version
${EARLIER_SCHEMA}, upgrades it, and opens it again. Medians of ${options.rounds} rounds; the file is in the page cache; load average before ${loadBefore.toFixed(2)}. "Longest turn"
is the longest block of the event loop until all pages are checked. Goal: at most ${MAX_TURN_MS} ms.

| | open ms | longest turn ms | MB before | MB after | |
|---|--:|--:|--:|--:|---|
${row("upgrade", upgrades)}
${row("opened again", repeated)}
`;
}

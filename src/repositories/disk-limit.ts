import { existsSync } from "node:fs";
import { createTurns } from "@hak2i/async-kit";
import { BridgeError } from "../errors.ts";
import type { RunHost } from "./host-git.ts";

/** How long a measurement is used. Between two measurements, the sizes of what Bridge creates are added. */
const MAX_AGE_MS = 30_000;
/** How often the size of a growing directory is measured. */
const WATCH_MS = 2000;
const MEASURE_MS = 120_000;
const GIB = 1024 ** 3;

export type DiskLimit = ReturnType<typeof createDiskLimit>;

/** Creates the limit of the disk space of all repositories and trees. `maxBytes` is null for no limit. */
export function createDiskLimit({
  directories,
  maxBytes,
  runHost,
}: {
  directories: readonly string[];
  maxBytes: number | null;
  runHost: RunHost;
}) {
  const turns = createTurns();
  let used = { bytes: 0, at: Number.NEGATIVE_INFINITY };

  /**
   * Measures directories as `du` does. Files that disappear meanwhile do not matter. Throws BridgeError: overloaded, if it takes too long.
   */
  async function measure(measured: readonly string[]): Promise<number> {
    const existing = measured.filter((directory) => existsSync(directory));
    if (existing.length === 0) return 0;
    const { stdout, aborted } = await runHost({
      argv: ["du", "-sk", "--", ...existing],
      env: { LC_ALL: "C" },
      input: "",
      stdoutBytes: 64 * 1024,
      signal: AbortSignal.timeout(MEASURE_MS),
    });
    if (aborted)
      throw new BridgeError("overloaded", "Bridge could not measure in time how much space its repositories use. Try again later.");
    const kib = stdout.toString().match(/^\d+/gm)?.map(Number) ?? [];
    return kib.reduce((sum, size) => sum + size, 0) * 1024;
  }

  /**
   * Calls the function with what is used. Only one function is called at a time, so that two reservations do not count on the same space.
   */
  const withUsed = <T>(act: (bytes: number) => T): Promise<T> =>
    turns.take("used", async () => {
      if (performance.now() - used.at > MAX_AGE_MS) used = { bytes: await measure(directories), at: performance.now() };
      return act(used.bytes);
    });

  return {
    /** Whether there is a limit. */
    isSet: maxBytes !== null,
    measure,
    /** Counts what Bridge is about to create. Throws BridgeError: overloaded, if it does not fit. */
    async reserve(bytes: number, what: string): Promise<void> {
      if (maxBytes === null) return;
      await withUsed((before) => {
        if (before + bytes > maxBytes)
          throw new BridgeError(
            "overloaded",
            `${what} needs ${format(bytes)}, but repositories and work trees already use ${format(before)} of ${format(maxBytes)} (BRIDGE_REPOSITORIES_MAX_GIB). Wait until other tasks end, or ask the operator for more space.`,
          );
        used.bytes += bytes;
      });
    },
    /** Calls a function that downloads to the directory with a signal, which aborts as soon as the directory has grown beyond the limit. */
    async watch<T>(directory: string, signal: AbortSignal, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
      if (maxBytes === null) return await act(signal);
      const before = await withUsed((bytes) => bytes);
      const sizeBefore = await measure([directory]);
      const controller = new AbortController();
      const check = async (): Promise<void> => {
        const growth = (await measure([directory])) - sizeBefore;
        if (before + growth <= maxBytes) return;
        const message = `The download needs more than ${format(Math.max(maxBytes - before, 0))}, which is what BRIDGE_REPOSITORIES_MAX_GIB leaves for it.`;
        controller.abort(new BridgeError("overloaded", message));
      };
      const timer = setInterval(() => void check().catch(() => {}), WATCH_MS);
      try {
        const result = await act(AbortSignal.any([signal, controller.signal]));
        await check();
        controller.signal.throwIfAborted();
        used.bytes += (await measure([directory])) - sizeBefore;
        return result;
      } finally {
        clearInterval(timer);
      }
    },
  };
}

const format = (bytes: number): string => (bytes < GIB ? `${Math.ceil(bytes / 1024 ** 2)} MiB` : `${(bytes / GIB).toFixed(1)} GiB`);

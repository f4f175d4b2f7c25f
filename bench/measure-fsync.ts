import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import path from "node:path";
import { median } from "./statistics.ts";

const WRITES = 300;
const BLOCK_BYTES = 4096;

/** Measures the median time to append 4 KiB and make it durable, in ms. */
export function measureFsyncMs(directory: string): number {
  const file = path.join(directory, "fsync.probe");
  const descriptor = openSync(file, "w");
  const block = Buffer.alloc(BLOCK_BYTES, 7);
  const times: number[] = [];
  for (let write = 0; write < WRITES; write += 1) {
    const startedAt = performance.now();
    writeSync(descriptor, block);
    fsyncSync(descriptor);
    times.push(performance.now() - startedAt);
  }
  closeSync(descriptor);
  rmSync(file);
  return median(times);
}

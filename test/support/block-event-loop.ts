/** Nothing of this process runs for so long, as if it had been stopped. */
export function blockEventLoop(durationMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
}

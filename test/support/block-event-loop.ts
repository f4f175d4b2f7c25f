/** Blocks the event loop for this duration, as if the process had been stopped. */
export function blockEventLoop(durationMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
}

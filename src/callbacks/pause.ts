/** Resolves after the time, or as soon as the signal says stop. */
export function pause(durationMs: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, durationMs);
    stop.addEventListener("abort", end);
    if (stop.aborted) end();

    function end(): void {
      clearTimeout(timer);
      stop.removeEventListener("abort", end);
      resolve();
    }
  });
}

import { sleep } from "@hak2i/async-kit";

/** A wait that `end` cuts short, now and later. */
export function createPause() {
  const ended = new AbortController();
  let isWaiting = false;
  return {
    isWaiting: () => isWaiting,
    async wait(ms: number): Promise<void> {
      isWaiting = true;
      await sleep(ms, ended.signal).catch(() => {});
      isWaiting = false;
    },
    end: () => ended.abort(),
  };
}

/** Time limits, abortable waits and serial queues for promises. No function leaves a timer or an abort listener behind. */

export { createTurns, type Turns } from "./create-turns.ts";
export { nullIfAborted } from "./null-if-aborted.ts";
export { rejectOnAbort } from "./reject-on-abort.ts";
export { sleep } from "./sleep.ts";
export { withTimeout } from "./with-timeout.ts";

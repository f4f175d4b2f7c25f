/** A second Ctrl-C within this time cancels the task. */
const CANCEL_WINDOW_MS = 2_000;

/** What Ctrl-C does while a task is followed. */
export interface DetachmentActions {
  /** Called at the first Ctrl-C. */
  announce(): void;
  /** Called at the second one. */
  cancel(): void;
  /** Called when there was no second one, and at the third one. */
  detach(): void;
}

/** Counts Ctrl-C: the first one detaches from the task after a moment, and the second one within this moment cancels the task instead. */
export function createDetachment({ announce, cancel, detach }: DetachmentActions) {
  let presses = 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    interrupt(): void {
      presses += 1;
      clearTimeout(timer);
      if (presses === 1) {
        announce();
        timer = setTimeout(detach, CANCEL_WINDOW_MS);
      } else if (presses === 2) cancel();
      else detach();
    },
    close: () => clearTimeout(timer),
  };
}

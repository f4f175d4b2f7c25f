import { cutToWidth } from "./display-width.ts";
import { showName } from "./show-hidden.ts";

/** The last line of the terminal, which shows what currently happens. */
export interface StatusLine {
  /** Shows the text of this function, and shows it again every second. */
  show(render: () => string): void;
  /** Shows the text again, at most ten times a second. */
  refresh(): void;
  /** Hides the line for the duration of the call. */
  writeAbove(write: () => void): void;
  /** Hides the line until it is resumed, because it would overwrite what a person types. */
  suspend(): void;
  resume(): void;
  /** Hides the line. */
  clear(): void;
}

const DEFAULT_COLUMNS = 80;
const INTERVAL_MS = 1000;
const MIN_REFRESH_MS = 100;
const CLEAR_LINE = "\r\u001b[2K";

/** Creates a status line, which shows nothing unless it is enabled. */
export function createStatusLine(stream: NodeJS.WriteStream, isEnabled: boolean): StatusLine {
  let render: (() => string) | null = null;
  let timer: NodeJS.Timeout | undefined;
  let drawnAt = 0;
  let isSuspended = false;

  const hide = (): void => {
    if (render !== null && !isSuspended) stream.write(CLEAR_LINE);
  };
  const draw = (): void => {
    if (render === null || isSuspended) return;
    drawnAt = performance.now();
    // The last column stays empty, because some terminals would start a new line.
    stream.write(`${CLEAR_LINE}${cutToWidth(showName(render()), (stream.columns || DEFAULT_COLUMNS) - 1)}`);
  };

  return {
    show(next) {
      if (!isEnabled) return;
      render = next;
      timer ??= setInterval(draw, INTERVAL_MS).unref();
      draw();
    },
    refresh() {
      if (performance.now() - drawnAt >= MIN_REFRESH_MS) draw();
    },
    writeAbove(write) {
      hide();
      write();
      draw();
    },
    suspend() {
      hide();
      isSuspended = true;
    },
    resume() {
      isSuspended = false;
      draw();
    },
    clear() {
      hide();
      render = null;
      isSuspended = false;
      clearInterval(timer);
      timer = undefined;
    },
  };
}

/**
 * Loaded with `--import` before Bridge: after SIGWINCH, the clock of the process is ahead by `TEST_CLOCK_SHIFT_MS`, which can be negative,
 * or continues at `TEST_CLOCK_TARGET_MS`.
 */
let shiftMs = 0;
const { TEST_CLOCK_SHIFT_MS: shift, TEST_CLOCK_TARGET_MS: target } = process.env;
const SystemDate = Date;
const now = (): number => SystemDate.now() + shiftMs;

// Bridge shuts down after many other signals.
process.on("SIGWINCH", () => {
  shiftMs = target === undefined ? Number(shift) : Number(target) - SystemDate.now();
});

globalThis.Date = new Proxy(SystemDate, {
  construct: (target, values: unknown[], newTarget) => Reflect.construct(target, values.length === 0 ? [now()] : values, newTarget) as Date,
  apply: () => new SystemDate(now()).toString(),
  get: (target, key, receiver) => (key === "now" ? now : (Reflect.get(target, key, receiver) as unknown)),
});

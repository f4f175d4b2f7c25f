/** Shifts the clock of the process by `TEST_CLOCK_SHIFT_MS`. Loaded with `--import` before Bridge. */
const shiftMs = Number(process.env["TEST_CLOCK_SHIFT_MS"]);
const SystemDate = Date;
const now = (): number => SystemDate.now() + shiftMs;

globalThis.Date = new Proxy(SystemDate, {
  construct: (target, values: unknown[], newTarget) => Reflect.construct(target, values.length === 0 ? [now()] : values, newTarget) as Date,
  apply: () => new SystemDate(now()).toString(),
  get: (target, key, receiver) => (key === "now" ? now : (Reflect.get(target, key, receiver) as unknown)),
});

import { expect } from "vitest";

/** Polls until the expectation holds, independent of the load of the machine. */
export const eventually = <T>(look: () => T) => expect.poll(look, { timeout: 15_000, interval: 10 });

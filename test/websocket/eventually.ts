import { expect } from "vitest";

/** Looks until it is as expected, however busy the machine is. */
export const eventually = <T>(look: () => T) => expect.poll(look, { timeout: 15_000, interval: 10 });

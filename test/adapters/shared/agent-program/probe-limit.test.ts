import { expect, test } from "vitest";
import { probeLimitMs } from "../../../../adapters/shared/agent-program/probe-limit.ts";

test.each([
  [{}, { load: 0, cores: 2 }, 20_000],
  [{}, { load: 2, cores: 2 }, 20_000],
  [{}, { load: 5, cores: 2 }, 50_000],
  [{}, { load: 100, cores: 2 }, 80_000],
  [{ probeSeconds: 120 }, { load: 100, cores: 2 }, 120_000],
  [{ probeSeconds: 3 }, { load: 0, cores: 2 }, 3_000],
])("with the settings %j and %j a program may take %d ms", (settings, machine, limitMs) => {
  expect(probeLimitMs(settings, machine)).toBe(limitMs);
});

import type { BridgeReport, CouncilReport } from "bridge-council";
import { expect, test } from "vitest";
import { openCouncil, shareBridge } from "./open-council.ts";

shareBridge();

const itself = "a council or a responder itself, not a runtime";

test("a council on another council asks nobody, and says why", async () => {
  const { dispatch, ended, asked } = await openCouncil({});
  await dispatch({ provider: "deep-council" });
  expect((await ended("completed")).outputs as BridgeReport).toMatchObject({ status: "SKIPPED", skip_reason: itself, roles: [] });
  expect(asked()).toEqual([]);
});

test("a council of several leaves another council out, and says why", async () => {
  const { dispatch, ended } = await openCouncil({});
  await dispatch({ provider: undefined, providers: ["bridge-codex"] }, { provider: "deep-council" });
  const { outputs, error } = await ended("failed");
  expect(outputs as CouncilReport).toMatchObject({ status: "ABORTED", skip_reasons: [{ bridge: "bridge-codex", reason: itself }] });
  expect(error).toContain(itself);
});

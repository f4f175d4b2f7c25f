import type { CouncilReport, PanelReport } from "bridge-council";
import { expect, test } from "vitest";
import { openCouncil, shareBridge } from "./open-council.ts";

shareBridge();

const itself = "this provider is a council or a responder, not a runtime";

test("a panel on another council asks no questions and reports the reason", async () => {
  const { dispatch, ended, asked } = await openCouncil({});
  await dispatch({ provider: "deep-council" });
  expect((await ended("failed")).outputs as PanelReport).toMatchObject({ status: "SKIPPED", skip_reason: itself, roles: [] });
  expect(asked()).toEqual([]);
});

test("a deep council skips another council and reports the reason", async () => {
  const { dispatch, ended } = await openCouncil({});
  await dispatch({ provider: undefined, providers: ["bridge-codex"] }, { provider: "deep-council" });
  const { outputs, error } = await ended("failed");
  expect(outputs as CouncilReport).toMatchObject({ status: "ABORTED", skip_reasons: [{ bridge: "bridge-codex", reason: itself }] });
  expect(error).toContain(itself);
});

import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { CouncilReport, PanelReport } from "bridge-council";
import { expect, test } from "vitest";
import { finding, openCouncil, shareBridge } from "./open-council.ts";

shareBridge();

const payments = { name: "payments", expert: "Payments Engineer", focus: ["double charges"], signals: ["chargeback"] };
const configure = (workspace: string, custom_domains: unknown) => {
  mkdirSync(workspace, { recursive: true });
  writeFileSync(path.join(workspace, ".bridge-settings.json"), JSON.stringify({ custom_domains }));
};

test("a council asks the experts that its workspace and its dispatch define, and built-in ones with changed fields", async () => {
  const { dispatch, asked, ended, workspace } = await openCouncil({ "Payments Lead": { outputs: [finding("HIGH", "Charged twice")] } });
  configure(workspace, [payments, { name: "security", focus: ["tenant isolation"] }, { name: "broken", focus: "x" }]);
  const custom_domains = [{ name: "payments", expert: "Payments Lead", instructions: "Follow each charge in {scope}." }];
  await dispatch({ intensity: "quick", domains: ["payments", "security"], custom_domains });
  const report = (await ended("completed")).outputs as PanelReport;
  expect(report.outputs).toMatchObject([{ title: "Charged twice", domain: "payments", agent: "Payments Lead" }]);
  expect(report.notes.join("\n")).toContain("custom_domains.2.focus must be a list of 1 to 20 texts");
  const messageOf = (role: string) => asked().find((one) => one.role === role)?.message;
  expect(messageOf("Payments Lead")).toContain("\nFollow each charge in login.ts and session.ts.\n");
  expect(messageOf("Payments Lead")).toContain("\nFocus areas: double charges\n");
  expect(messageOf("Application Security Engineer")).toContain("\nFocus areas: tenant isolation\n");
});

test("the expert of a defined domain joins the debate", async () => {
  const { dispatch, asked, ended, workspace } = await openCouncil({
    "Application Security Engineer 1": {
      outputs: [finding("HIGH", "Charged twice")],
      cross_domain_signals: [{ domain: "payments", reason: "Who refunds it?" }],
    },
  });
  configure(workspace, [payments]);
  await dispatch();
  await ended("completed");
  expect(asked().map(({ role, round }) => `${role} ${round}`)).toContain("Payments Engineer 2");
});

test("deep-council chooses a domain of its workspace by the words of the task", async () => {
  const { dispatch, ended, workspace } = await openCouncil({});
  configure(workspace, [payments]);
  const question = { provider: undefined, providers: ["command"], domains: [], intensity: "quick", scope: "src/" };
  await dispatch({ ...question, task_description: "Two chargebacks.", context_summary: "" }, { provider: "deep-council" });
  expect(((await ended("completed")).outputs as CouncilReport).domains_covered).toEqual(["payments"]);
});

test("a dispatch with an invalid definition is rejected with the field and the value", async () => {
  const { dispatch } = await openCouncil({});
  const answer = await dispatch({ custom_domains: [{ name: "x", signals: "login" }] });
  const errors = [{ path: "bridgeInput.custom_domains.0.signals", message: 'must be a list of 0 to 100 words or phrases; got "login"' }];
  expect([answer.status, await answer.json()]).toMatchObject([400, { code: "invalid_request", errors }]);
});

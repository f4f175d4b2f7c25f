import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AdapterHealthStatus } from "#contract";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { openChromium } from "../open-chromium.ts";
import { expectQuiet, findAccessibilityViolations, openPage, scrollsSideways } from "./open-page.ts";

const install = "was not found on PATH. Run npm install -g @google/gemini-cli, or set BRIDGE_GEMINI_COMMAND.";
const health: Record<string, AdapterHealthStatus> = {
  claude: {
    ...{ status: "healthy", connection: "cli", version: "2.1.328", path: "/opt/bin/claude", detail: null },
    preflight: [
      { step: "primary connection", ok: false, detail: "acp: claude-agent-acp was not found on PATH." },
      { step: "secondary connection", ok: true, detail: "cli: claude 2.1.328" },
      { step: "authentication", ok: true, detail: "api_key (firstParty)" },
    ],
  },
  gemini: {
    ...{ status: "offline", connection: null, version: null },
    detail: `cli: gemini ${install} acp: gemini ${install} api: Set GEMINI_API_KEY.`,
    preflight: [
      { step: "primary connection", ok: false, detail: `cli: gemini ${install}` },
      { step: "secondary connection", ok: false, detail: `acp: gemini ${install}` },
      { step: "tertiary connection", ok: false, detail: "api: Set GEMINI_API_KEY." },
    ],
  },
  panel: {
    ...{ status: "healthy", connection: "native-dispatch", version: null, detail: null },
    preflight: [
      { step: "claude", ok: true, detail: "claude is healthy." },
      { step: "gemini", ok: false, detail: `gemini is offline: cli: gemini ${install}` },
    ],
  },
};

let browser: Browser;
let bridge: Bridge;
beforeAll(async () => {
  browser = await openChromium();
  const create = ([provider, status]: [string, AdapterHealthStatus]) => ({
    provider,
    adapter: { ...createInMemoryAdapter({ provider }), checkHealth: async () => status },
  });
  bridge = await startBridge({}, { adapters: Object.entries(health).map(create) });
});
afterAll(async () => {
  await browser?.close();
  await bridge?.close();
});

test("an adapter names its program, and one that is offline names each missing program once", async () => {
  const opened = await openPage(browser, `${bridge.url}/ui/adapters`, { token: "secret-alpha" });
  const { page } = opened;
  const claude = page.getByRole("region", { name: "claude", exact: true });
  await claude.getByText("/opt/bin/claude").waitFor();
  await claude.getByText("2.1.328 · connection cli").waitFor();
  // A connection that the adapter does not need is no fault.
  expect(await claude.textContent()).not.toContain("✕");
  expect(await claude.getByText(/not found/).isVisible()).toBe(false);
  await claude.getByText("Details of the check").click();
  await claude.getByText("acp (not used)").waitFor();

  const gemini = page.getByRole("region", { name: "gemini", exact: true });
  const remedies = await gemini.getByRole("listitem").allInnerTexts();
  expect(remedies).toEqual([expect.stringMatching(/^gemini was not found on PATH\. Run npm install -g @google/), "Set GEMINI_API_KEY."]);
  expect((await gemini.textContent())?.split("not found")).toHaveLength(2);
  expect(await gemini.getByRole("button", { name: "Copy" }).count()).toBe(1);
  expect(await gemini.locator("code").allInnerTexts()).toEqual(["npm install -g @google/gemini-cli"]);

  const panel = page.getByRole("region", { name: "panel", exact: true });
  expect(await panel.textContent()).not.toContain("not found");
  expect(await findAccessibilityViolations(page)).toEqual([]);
  await page.setViewportSize({ width: 320, height: 320 });
  expect(await scrollsSideways(page)).toBe(false);
  await panel.getByRole("link", { name: "See why gemini is offline" }).click();
  // The heading is at the top, not above it as before the click.
  await expect.poll(async () => Math.abs((await gemini.getByRole("heading").boundingBox())?.y ?? Number.NaN)).toBeLessThan(100);
  expectQuiet(opened);
});

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BridgeProgram, startBridgeProgram } from "../../support/bridge-program.ts";
import { startReceiver } from "../../support/start-receiver.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { openChromium } from "../open-chromium.ts";
import { expectQuiet, openPage, scrollsSideways } from "./open-page.ts";
import { type Hands, useKeyboard, useMouse } from "./operate-page.ts";

const askingAgent = path.resolve(import.meta.dirname, "../../fixtures/programs/acp-agent.js");
const settings = {
  BRIDGE_ADAPTERS: "command,acp:asker",
  BRIDGE_ACP_AGENTS: JSON.stringify({ asker: [process.execPath, askingAgent] }),
  BRIDGE_CALLBACK_RETRIES: "0",
  BRIDGE_DRAIN_SECONDS: "0",
};

/** What the agent of the second task does: it asks before a tool call, and answers. */
const steps = [
  {
    ask: {
      toolCall: { toolCallId: "1", title: "rm old.md", kind: "execute", rawInput: { command: "rm old.md" } },
      options: [
        { optionId: "yes", name: "Yes", kind: "allow_once" },
        { optionId: "no", name: "No", kind: "reject_once" },
      ],
    },
  },
  { say: "The file is **removed**." },
  { end: {} },
];

let browser: Browser;
beforeAll(async () => {
  browser = await openChromium();
});
afterAll(() => browser?.close());

/** Creates a repository with one commit as the workspace of the first agent. */
function createRepository(dataDir: string): void {
  const workspace = path.join(dataDir, "workspaces/default/auditor");
  mkdirSync(workspace, { recursive: true });
  writeFileSync(path.join(workspace, "notes.md"), "BRIDGE: write this down\n");
  const git = (...args: string[]): void =>
    void execFileSync("git", ["-C", workspace, "-c", "user.name=n", "-c", "user.email=e", ...args], { stdio: "ignore" });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "first");
}

async function createSignInLink(bridge: BridgeProgram): Promise<string> {
  const answer = await bridge.call("POST", "/api/v2/sessions/link");
  return `${bridge.url}/${((await answer.json()) as { path: string }).path}`;
}

const viewports = { wide: { width: 1280, height: 800 }, narrow: { width: 320, height: 640 } };

test.each([
  { size: "wide", means: "mouse", handsOf: useMouse },
  { size: "narrow", means: "mouse", handsOf: useMouse },
  { size: "wide", means: "keyboard", handsOf: useKeyboard },
  { size: "narrow", means: "keyboard", handsOf: useKeyboard },
] as const)(
  "a newcomer signs in, dispatches, reads, approves and redelivers in a $size window with the $means alone",
  async ({ size, handsOf }) => {
    const dataDir = await temporaryDirectory();
    createRepository(dataDir);
    const bridge = await startBridgeProgram(dataDir, settings);
    let isBroken = true;
    const receiver = await startReceiver((response) => response.writeHead(isBroken ? 500 : 204).end());
    const opened = await openPage(browser, await createSignInLink(bridge), { token: null, viewport: viewports[size] });
    const { page } = opened;
    const hands = handsOf(page);
    const expectFits = async (): Promise<void> => expect(await scrollsSideways(page)).toBe(false);

    /** A narrow window shows the pages after a press of a button. */
    const openPages = async (): Promise<void> => {
      if (size === "narrow") await hands.activate(page.getByRole("button", { name: /^Pages/ }));
    };

    await page.getByText("No tasks yet.").waitFor();
    expect(page.url()).toBe(`${bridge.url}/ui/`);
    await expectFits();

    await hands.activate(page.getByRole("link", { name: "New task" }));
    await fillIn(page, hands, { adapter: "command", agent: "auditor", message: "Count BRIDGE in *.md" });
    await hands.choose(page.getByLabel("Output", { exact: true }), "file");
    await hands.enter(page.getByLabel("Output file"), "report.md");
    await hands.activate(page.getByText("More fields"));
    await hands.enter(page.getByLabel("Callback URL"), receiver.origin);
    await expectFits();
    await hands.activate(page.getByRole("button", { name: "Dispatch" }));
    await page.getByRole("heading", { name: /completed/ }).waitFor();
    const taskId = page.url().split("/").at(-1) as string;

    const call = page.locator("bridge-call").filter({ hasText: "list_files" });
    await hands.activate(call.locator("summary"));
    await call.getByRole("heading", { name: "Output" }).waitFor();
    await page.getByRole("region", { name: "Result" }).getByRole("cell", { name: "notes.md" }).waitFor();
    await hands.activate(page.getByRole("button", { name: "Show the diff" }));
    await page.getByRole("table", { name: "Changes of report.md" }).getByText("BRIDGE").waitFor();
    await expectFits();

    await hands.activate(page.getByRole("link", { name: "New task" }));
    await fillIn(page, hands, { adapter: "asker", agent: "cleaner", message: JSON.stringify({ steps }) });
    await hands.choose(page.getByLabel("Approvals"), "ask");
    await hands.activate(page.getByRole("button", { name: "Dispatch" }));
    await page.getByRole("heading", { name: /needs approval/ }).waitFor();
    await openPages();
    await hands.activate(page.getByRole("link", { name: "Approvals 1" }));
    await page.getByText("rm old.md").first().waitFor();
    expect(await page.title()).toContain("(1)");
    await expectFits();
    await hands.activate(page.getByRole("button", { name: "Approve" }));
    await page.getByRole("status").filter({ hasText: "approved" }).waitFor();
    await hands.activate(page.locator(".approval").getByRole("link"));
    await page.getByRole("heading", { name: /completed/ }).waitFor();
    await page.locator("strong").filter({ hasText: "removed" }).first().waitFor();

    isBroken = false;
    await openPages();
    await hands.activate(page.getByRole("link", { name: "Callbacks 1" }));
    const callback = page.getByRole("listitem").filter({ has: page.getByRole("link", { name: taskId }) });
    await callback.getByText("HTTP 500").waitFor();
    await expectFits();
    await hands.activate(callback.getByRole("button"));
    await page.getByText("No callback is dead.").waitFor();
    await hands.activate(page.getByRole("link", { name: "delivered", exact: true }));
    await callback.getByText("2 attempts, HTTP 204").waitFor();
    expect(receiver.taskIds()).toEqual([taskId, taskId]);

    await openPages();
    await hands.activate(page.getByRole("button", { name: "Sign out" }));
    await page.getByLabel("Token").waitFor();
    expectQuiet(opened);
    await receiver.close();
  },
);

/** Fills the form of a new task that may change files. */
async function fillIn(page: Page, hands: Hands, task: { adapter: string; agent: string; message: string }): Promise<void> {
  await page.getByRole("option", { name: task.adapter }).waitFor({ state: "attached" });
  await hands.choose(page.getByLabel("Adapter"), task.adapter);
  await hands.enter(page.getByLabel("Agent"), task.agent);
  await hands.enter(page.getByLabel("Message"), task.message);
  await hands.choose(page.getByLabel("Profile"), "modify");
}

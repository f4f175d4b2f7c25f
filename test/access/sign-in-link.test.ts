import path from "node:path";
import { expect, test } from "vitest";
import { startBridgeProgram } from "../support/bridge-program.ts";
import { openTerminal } from "../support/open-terminal.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const LINK = /(http\S*)#t=(lnk_[\w-]{43})/;
const start = path.resolve(import.meta.dirname, "../../src/start.js");

/** Starts Bridge on a terminal. Returns what the terminal shows. */
async function startOnTerminal(settings: Record<string, string> = {}): Promise<() => string> {
  const directory = await temporaryDirectory();
  const env = { PATH: "/usr/bin:/bin", SHELL: "/bin/sh", BRIDGE_PORT: "0", BRIDGE_DATA_DIR: directory, ...settings };
  return openTerminal([process.execPath, start], { cwd: directory, env }).shown;
}

test("on a terminal, Bridge prints a link that opens a session once, and its log does not contain it", async () => {
  const shown = await startOnTerminal();
  await expect.poll(shown).toMatch(LINK);
  const [, url = "", ticket] = LINK.exec(shown()) ?? [];
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/ui\/$/);
  expect(
    shown()
      .split("\n")
      .filter((line) => line.includes("lnk_")),
  ).toHaveLength(1);
  const open = () =>
    fetch(new URL("/api/v2/sessions", url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ticket }),
    });
  const session = (await (await open()).json()) as { token: string };
  const me = await fetch(new URL("/api/v2/me", url), { headers: { authorization: `Bearer ${session.token}` } });
  expect(await me.json()).toMatchObject({ name: "own-token", tenant: "default" });
  expect((await open()).status).toBe(401);
});

test.each([
  ["https://bridge.example.com", "https://bridge.example.com/ui/"],
  ["https://bridge.example.com/agents", "https://bridge.example.com/agents/ui/"],
  ["https://bridge.example.com/agents/", "https://bridge.example.com/agents/ui/"],
])("with the public URL %s, the link opens the console at %s", async (publicUrl, consoleUrl) => {
  const shown = await startOnTerminal({ BRIDGE_PUBLIC_URL: publicUrl });
  await expect.poll(shown).toMatch(LINK);
  expect(LINK.exec(shown())?.[1]).toBe(consoleUrl);
});

test("without a terminal, Bridge prints no link", async () => {
  const directory = await temporaryDirectory();
  const bridge = await startBridgeProgram(directory);
  expect((await bridge.call("GET", "/api/v2/me")).status).toBe(200);
  bridge.signal("SIGTERM");
  await bridge.exited;
  expect(bridge.stderr()).not.toContain("lnk_");
});

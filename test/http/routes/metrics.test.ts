import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { openSocket } from "../../websocket/socket-client.ts";

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge();
});
afterAll(() => bridge.close());

const series = async () => (await bridge.call("GET", "/metrics")).text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));

test("names that clients choose create no series and cannot break a line", async () => {
  const names = Array.from({ length: 30 }, (_, number) => `made-up-${number}"} 1\u2028{x="`);
  const socket = await openSocket(`${bridge.url}/ws/bridge`, { headers: { authorization: "Bearer secret-alpha" } });
  const attack = async (provider: string) => {
    expect((await bridge.dispatch({ provider })).status).toBe(422);
    expect((await bridge.dispatch({ agentId: provider })).status).toBe(400);
    await socket.ask(provider, {});
    await bridge.call("GET", `/api/v2/tasks/${encodeURIComponent(provider)}`);
  };
  await attack(names[0] as string);
  const before = (await series()).length;
  for (const name of names) await attack(name);
  await socket.close();
  const after = await series();
  expect(after.length).toBe(before);
  for (const line of after) expect(line).toMatch(/^[a-z_:]+(\{[^{}]*\})? (\S+)$/);
  expect(after.join("\n")).not.toContain("made-up");
});

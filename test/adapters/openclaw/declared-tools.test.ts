import { expect, onTestFinished, test } from "vitest";
import { createCapabilities } from "../../../adapters/openclaw/capabilities.ts";
import { connectToServer } from "../shared/declared-tools/connect-to-server.ts";
import { messageFor, startFakeGateway } from "./fake-gateway.ts";
import { callsOf, startAdapter } from "./task-fixture.ts";

const tools = [{ name: "ask_user", description: "Asks the user.", inputSchema: { type: "object" } }];

interface AddedServer {
  url: string;
  headers: Record<string, string>;
}

/** A gateway that accepts every configuration and records the servers that were added last. */
async function startRecordingGateway() {
  const added: Record<string, AddedServer | null>[] = [];
  const fake = await startFakeGateway({
    override: ({ method, params }, answer) => {
      if (method !== "config.patch") return false;
      added.push(JSON.parse(String(params["raw"])).mcp.servers);
      answer({ payload: { ok: true } });
      return true;
    },
  });
  return { fake, added };
}

test("a call of a declared tool stops the run and ends the task, and the next run of the session gets the result", async () => {
  const { fake, added } = await startRecordingGateway();
  const { start } = await startAdapter(fake);
  const task = start({ ...messageFor({ hang: true }), tools, profile: "inspect" });
  await expect.poll(() => callsOf(fake, "agent")).toHaveLength(1);
  const [[name = "", server] = []] = Object.entries(added[0] ?? {});
  expect(name).toMatch(/^br[0-9a-f]{12}-bridge$/);
  const { url = "", headers = {} } = server ?? {};
  const client = await connectToServer({ name: "bridge", transport: "http", url, headers });
  onTestFinished(() => client.close());
  client.callTool({ name: "ask_user", arguments: { question: "Which?" } }).catch(() => {});

  const { result, events } = await task.done;
  expect(result).toMatchObject({
    status: "ok",
    output: "",
    outputs: { toolCalls: [{ toolName: "ask_user", input: { question: "Which?" } }] },
    resumeToken: expect.stringMatching(/^agent:main:bridge-/),
  });
  expect(events.filter(({ type }) => type.startsWith("tool."))).toHaveLength(1);
  expect(callsOf(fake, "sessions.abort")).toHaveLength(1);
  await expect.poll(() => added.at(-1)).toEqual({ [name]: null });

  const { resumeToken = "" } = result;
  const next = await start({ message: "The blue one.", systemPrompt: "echo", resumeToken }).done;
  expect(next.result).toMatchObject({ status: "ok", output: expect.stringContaining('"result":"The blue one."') });
});

test.each([
  ["ws://127.0.0.1:18789", true],
  ["ws://localhost:18789", true],
  ["ws://[::1]:18789", true],
  ["wss://gateway.example", false],
  ["ws://127.0.0.1.example", false],
])("the adapter supports declared tools with a gateway at %s: %s", (url, tools) => {
  expect(createCapabilities({ workspace: "bridge", url }).tools).toBe(tools);
});

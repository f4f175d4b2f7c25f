import { createHash, createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { startWordModel, wordServers } from "../../../test/scenarios/word-model.ts";
import { type BridgeProgram, startBridgeProgram } from "../../../test/support/bridge-program.ts";
import { findFreePort } from "../../../test/support/find-free-port.ts";
import { startReceiver } from "../../../test/support/start-receiver.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { until } from "../../../test/support/until.ts";
import { requirePythonModules } from "./python.ts";
import { type Client, type ClientOptions, type Outcome, runners, startClient } from "./start-client.ts";

/** One step of `scenario.json`. A text that begins with `$` names a value of an earlier step. */
type Step =
  | {
      title: string;
      call: string;
      given?: object;
      client?: Partial<ClientOptions>;
      expect?: unknown;
      fails?: object;
      as?: string;
      inBackground?: true;
      /** Several results are correct, so they are not compared. */
      varies?: true;
    }
  | { receive: number; as: string }
  | { seen: number; by: string }
  | { bridge: "kill" | "start" }
  | { openGate: true }
  | { join: string; expect?: object }
  | { equal: [string, string]; length?: number };

const steps = JSON.parse(readFileSync(path.join(import.meta.dirname, "scenario.json"), "utf8")) as Step[];
const programs = path.resolve(import.meta.dirname, "../../../test/fixtures/programs");
const token = "secret-of-the-client";
const secret = `whsec_${Buffer.from("the secret of all callbacks").toString("base64")}`;

/** What the agent `asker` does: it asks before a tool call. */
const question = JSON.stringify({
  steps: [
    {
      ask: {
        toolCall: { toolCallId: "1", title: "rm old.md", kind: "execute", rawInput: { command: "rm old.md" } },
        options: [
          { optionId: "yes", name: "Yes", kind: "allow_once" },
          { optionId: "no", name: "No", kind: "reject_once" },
        ],
      },
    },
    { say: "The file is removed." },
    { end: {} },
  ],
});

/** A call that goes on while other steps run. */
interface BackgroundCall {
  events: unknown[];
  outcome: Promise<Outcome>;
}

beforeAll(requirePythonModules);

describe("the scenario", () => {
  const transcripts = new Map<string, unknown[]>();

  test.each(Object.keys(runners))("the scenario passes with the client for %s", async (name) => {
    transcripts.set(name, await runScenario(startClient(name)));
  });

  test("the scenario has the same results with every client", () => {
    const [first, ...others] = [...transcripts.values()];
    expect(others).toHaveLength(Object.keys(runners).length - 1);
    expect(first?.length).toBeGreaterThan(40);
    for (const transcript of others) expect(transcript).toEqual(first);
  });
});

/** Runs all steps with one client against a separate Bridge. Returns the normalized results of all calls. */
async function runScenario(client: Client): Promise<unknown[]> {
  const dataDir = await temporaryDirectory();
  const port = await findFreePort();
  const { settings } = await startWordModel();
  const receiver = await startReceiver((response) => response.writeHead(204).end());
  const gate = path.join(dataDir, "gate");
  const values = new Map<string, unknown>(Object.entries({ receiver: receiver.origin, secret, gate, question, wordServers }));
  const background = new Map<string, BackgroundCall>();
  const transcript: unknown[] = [];
  const normalize = createNormalizer(receiver.origin, gate);
  const options = { url: `http://127.0.0.1:${port}`, token, retryDelayMs: 20, patienceMs: 60_000, silenceMs: 31_000 };
  const resolve = (given: unknown): unknown => replaceReferences(given, values);
  let bridge: BridgeProgram = await startBridge(dataDir, port, settings);

  function record(title: string, outcome: Outcome, expected: { expect?: unknown; fails?: object; varies?: true }): unknown {
    if (!expected.varies) transcript.push({ title, outcome: normalize(outcome) });
    if (expected.fails !== undefined) expect(outcome, title).toMatchObject({ error: expected.fails });
    else expect(outcome, title).toHaveProperty("result");
    if (expected.expect !== undefined) expect(outcome, title).toMatchObject({ result: expected.expect });
    return "result" in outcome ? outcome.result : undefined;
  }

  for (const step of steps) {
    if ("call" in step) {
      const { title, call, given = {}, as = title } = step;
      const events: unknown[] = [];
      const outcome = client.call(call, resolve(given) as object, { ...options, ...step.client }, (event) => events.push(event));
      if (step.inBackground) background.set(as, { events, outcome });
      else values.set(as, record(title, await outcome, step));
    } else if ("join" in step) {
      values.set(step.join, record(step.join, (await background.get(step.join)?.outcome) as Outcome, step));
    } else if ("seen" in step) {
      expect(await until(() => (background.get(step.by)?.events.length ?? 0) >= step.seen, 20_000)).toBe(true);
    } else if ("receive" in step) {
      expect(await until(() => receiver.posts.length >= step.receive, 20_000)).toBe(true);
      const { headers, body } = receiver.posts[step.receive - 1] as (typeof receiver.posts)[number];
      values.set(step.as, { headers, body: body.toString() });
      // The same callback, signed earlier.
      values.set("old", { headers: signAt(Date.now() / 1000 - 360, headers, body) });
      values.set("recent", { headers: signAt(Date.now() / 1000 - 240, headers, body) });
    } else if ("openGate" in step) {
      await writeFile(gate, "");
    } else if ("equal" in step) {
      const [one, other] = step.equal.map(resolve);
      expect(one).toEqual(other);
      expect(one).toBeDefined();
      if (step.length !== undefined) expect(one).toHaveLength(step.length);
    } else if (step.bridge === "kill") {
      bridge.signal("SIGKILL");
      await bridge.exited;
    } else {
      bridge = await startBridge(dataDir, port, settings);
    }
  }
  return transcript;
}

const startBridge = (dataDir: string, port: number, settings: Record<string, string>): Promise<BridgeProgram> =>
  startBridgeProgram(dataDir, {
    ...settings,
    BRIDGE_PORT: String(port),
    BRIDGE_GATEWAY_TOKEN_HASH: createHash("sha256").update(token).digest("hex"),
    BRIDGE_ADAPTERS: "vercel-ai,command,acp:asker",
    BRIDGE_COMMAND: JSON.stringify([process.execPath, path.join(programs, "gated-agent.js")]),
    BRIDGE_ACP_AGENTS: JSON.stringify({ asker: [process.execPath, path.join(programs, "acp-agent.js")] }),
    BRIDGE_CALLBACK_SECRETS: secret,
  });

/** Returns the headers of a callback with the signature for another time. */
function signAt(time: number, headers: object, body: Buffer): object {
  const id = (headers as Record<string, string>)["webhook-id"];
  const seconds = Math.floor(time);
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${seconds}.`).update(body).digest("base64");
  return { ...headers, "webhook-timestamp": String(seconds), "webhook-signature": `v1,${signature}` };
}

/** Replaces each text that begins with `$` by the value that it names, such as `$stored.events.0.id`. */
function replaceReferences(given: unknown, values: ReadonlyMap<string, unknown>): unknown {
  if (Array.isArray(given)) return given.map((entry) => replaceReferences(entry, values));
  if (typeof given === "object" && given !== null)
    return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, replaceReferences(value, values)]));
  if (typeof given !== "string" || !given.startsWith("$")) return given;
  const [name = "", ...fields] = given.slice(1).split(".");
  return fields.reduce((value, field) => (value as Record<string, unknown>)?.[field], values.get(name));
}

/** Fields whose values differ from run to run. */
const VARIABLE = /^(requestId|approvalId|durationMs|timestamp|resumeToken|node|at|callback|.*At)$/;

/** Creates a function that replaces everything that differs from run to run: times, generated ids, and the addresses of this run. */
function createNormalizer(origin: string, gate: string): (outcome: Outcome) => unknown {
  /** The event ids so far. Their numbers depend on how far other tasks are. */
  const eventIds: string[] = [];
  const replaceId = (id: string): string => {
    if (!id.includes("-")) return "<id>";
    if (!eventIds.includes(id)) eventIds.push(id);
    return `<event ${eventIds.indexOf(id) + 1}>`;
  };
  return (outcome) => {
    const text = JSON.stringify("error" in outcome ? describeError(outcome.error) : outcome, (name, field: unknown) => {
      if (VARIABLE.test(name) && field !== null) return `<${name}>`;
      if (name === "state" && (field === "queued" || field === "running")) return "<active>";
      // The epoch of the database is random, as are generated task ids.
      // The call of an approval of the kind budget is named after it.
      return typeof field === "string" ? field.replace(/^apr_.*$/, "<approval>").replace(/^[0-9a-f]{8,}(-\d+)?$/, replaceId) : field;
    });
    return JSON.parse(text.replaceAll(origin, "<receiver>").replaceAll(gate, "<gate>")) as unknown;
  };
}

/** Errors of the client itself differ between languages in their class and in the names of parameters in their message. */
function describeError({ message, name, ...error }: Record<string, unknown>): object {
  return { error: typeof error["status"] === "number" ? { ...error, message } : error };
}

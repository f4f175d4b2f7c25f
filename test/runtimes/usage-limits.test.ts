import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROMPT_OPENING } from "../../adapters/shared/agent-program/prompt.ts";
import { createModelServer } from "./model-server/server.ts";
import { startGateway } from "./openclaw/start-gateway.ts";
import { type CellBench, openCellBench } from "./table/cell-bench.ts";
import { scenarios } from "./table/scenarios.ts";

/** The table's rows about limits. The table itself runs them with the other runtimes. */
const rows = scenarios.filter(({ name }) => ["usage limit", "notice of a limit instead of an answer"].includes(name));

const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

describe.each<[name: string, open: () => Promise<CellBench>]>([
  ["OpenClaw", openOpenClaw],
  ["the Vercel AI SDK", () => openCellBench("vercel-ai", "in-process")],
  ["Gloo AI", async () => openCellBench("gloo-ai", "api", { BRIDGE_GLOO_AI_TOKEN_URL: await startTokenServer() })],
])("with %s", (_, open) => {
  let bench: CellBench;
  beforeAll(async () => {
    bench = await open();
    closing.push(bench.close);
  });

  test("a first task completes", async () => {
    const message = `Begin. ${bench.model.scenario([{ text: "Ready." }])}`;
    // OpenClaw checks its database during its first run, which takes long on a busy machine.
    expect(await bench.ended(await bench.dispatch({ message, timeoutSeconds: 120 }))).toMatchObject({ state: "completed" });
  });

  test.each(rows)("$name", async ({ play }) => await play(bench));
});

async function openOpenClaw(): Promise<CellBench> {
  const model = await createModelServer({ messagePrefix: PROMPT_OPENING });
  const gateway = await startGateway({
    modelUrl: model.url,
    change: (config) => {
      config.agents["entries"] = { main: {}, cell: {} };
    },
  });
  closing.push(gateway.close);
  const settings = { BRIDGE_OPENCLAW_URL: gateway.url, BRIDGE_OPENCLAW_TOKEN: gateway.token, BRIDGE_IDLE_SECONDS: "120" };
  return await openCellBench("openclaw", "http-api", settings, model);
}

/** Starts a server that issues the access tokens of Gloo AI, and returns its URL. */
async function startTokenServer(): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ access_token: "token", expires_in: 3600, token_type: "Bearer" }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(async () => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/oauth2/token`;
}

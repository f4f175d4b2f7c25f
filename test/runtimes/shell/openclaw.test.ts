import { afterAll } from "vitest";
import { PROMPT_OPENING } from "../../../adapters/shared/agent-program/prompt.ts";
import { createModelServer } from "../model-server/server.ts";
import { type RealGateway, startGateway } from "../openclaw/start-gateway.ts";
import { openCellBench } from "../table/cell-bench.ts";
import { benchSettings, cells, playCommands } from "./play-commands.ts";

let gateway: RealGateway | undefined;
afterAll(() => gateway?.close());

playCommands("openclaw", "http-api", async () => {
  const model = await createModelServer({ messagePrefix: PROMPT_OPENING });
  gateway = await startGateway({
    modelUrl: model.url,
    change: (config) => {
      config.agents["entries"] = Object.fromEntries(["main", ...cells.map(({ agentId }) => agentId)].map((id) => [id, {}]));
    },
  });
  const settings = { ...benchSettings, BRIDGE_OPENCLAW_URL: gateway.url, BRIDGE_OPENCLAW_TOKEN: gateway.token };
  return await openCellBench("openclaw", "http-api", settings, model);
});

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { createApp } from "../src/app/create-app.ts";
import { loadConfig } from "../src/app/load-config.ts";
import { writeOpenapiYaml } from "../src/http/openapi/write-openapi-yaml.ts";

/** Renders `openapi.yaml`: the API description of a Bridge without adapters. */
export async function renderOpenapi(): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), "bridge-openapi-"));
  // With a token hash, Bridge generates no token. No token matches this hash.
  const { config } = loadConfig({ BRIDGE_DATA_DIR: directory, BRIDGE_GATEWAY_TOKEN_HASH: "0".repeat(64) });
  const app = await createApp(config, pino({ level: "silent" }), { adapters: [] });
  try {
    return await writeOpenapiYaml(app.server.swagger());
  } finally {
    await app.close();
    await rm(directory, { recursive: true });
  }
}

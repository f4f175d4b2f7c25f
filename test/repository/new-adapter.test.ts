import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import type { Catalog, CatalogEntry } from "#contract";
import { catalog } from "../../adapters/index.ts";
import { renderEnvironmentExample, renderSettingsTable } from "../../scripts/render-settings.ts";
import { createApp } from "../../src/app/create-app.ts";
import { readConfig } from "../../src/config/config.ts";
import { listSettings } from "../../src/config/list-settings.ts";
import { ConfigError } from "../../src/errors.ts";
import { greeterInput, greeterSettings } from "../fixtures/greeter/settings.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** The complete code that a new adapter needs outside of its directory. */
const entry: CatalogEntry = {
  provider: "greeter",
  settings: greeterSettings,
  input: greeterInput,
  load: () => import("../fixtures/greeter/index.ts"),
};
const withGreeter: Catalog = [...catalog, entry];

test("the setting of a new adapter appears in .env.example and in the table, after those of the other adapters", () => {
  const settings = listSettings(withGreeter);
  expect(renderEnvironmentExample(settings)).toContain("\n# Word with which each answer begins.\n#BRIDGE_GREETER_GREETING=Hello\n");
  expect(renderSettingsTable(settings)).toContain("| `BRIDGE_GREETER_GREETING` | `Hello` | Word with which each answer begins. |");
  const names = Object.keys(settings);
  expect(names.filter((name) => name !== "BRIDGE_GREETER_GREETING")).toEqual(Object.keys(listSettings(catalog)));
  expect(names[names.indexOf("BRIDGE_GREETER_GREETING") - 1]).toBe("BRIDGE_RESPONDER_MODEL");
});

test("an invalid setting of a new adapter is reported at the start, although the adapter is not enabled", () => {
  const read = () => readConfig({ BRIDGE_GREETER_GREETING: "hi" }, withGreeter);
  expect(read).toThrow(ConfigError);
  expect(read).toThrow("BRIDGE_GREETER_GREETING: must begin with a capital letter");
});

test("the setting and the input of a new adapter reach it through a dispatch", async () => {
  const environment = {
    BRIDGE_PORT: "0",
    BRIDGE_DATA_DIR: await temporaryDirectory(),
    BRIDGE_ADAPTERS: "greeter",
    BRIDGE_GREETER_GREETING: "Hi",
  };
  // The SHA-256 of "secret".
  const hash = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
  const { config, warnings } = readConfig({ ...environment, BRIDGE_GATEWAY_TOKEN_HASH: hash }, withGreeter);
  expect(warnings).toEqual([]);
  const app = await createApp(config, pino({ level: "silent" }), { catalog: withGreeter, environment: {} });
  onTestFinished(() => app.close());
  const address = await app.start();
  const call = async (path: string, body?: object) => {
    const headers = { authorization: "Bearer secret", "content-type": "application/json", prefer: "wait=10" };
    const response = await fetch(`${address}${path}`, { headers, ...(body && { method: "POST", body: JSON.stringify(body) }) });
    return (await response.json()) as Record<string, unknown>;
  };
  expect(await call("/api/v2/dispatch", { agentId: "a", greeterInput: { name: "Ada" } })).toMatchObject({
    state: "completed",
    result: { output: "Hi, Ada. (modify)" },
  });
  expect(await call("/api/v2/dispatch", { agentId: "a", bridgeInput: {} })).toMatchObject({ code: "capability_missing" });
  expect(await call("/api/v2/dispatch", { agentId: "a", otherInput: {} })).toMatchObject({ code: "invalid_request" });
  expect(await call("/api/v2/adapters")).toMatchObject({ data: [{ provider: "greeter", capabilities: { inputs: ["greeterInput"] } }] });
  expect(await call("/openapi.json")).toMatchObject({
    components: { schemas: { Dispatch: { properties: { greeterInput: { description: "Input of the greeter: name." } } } } },
  });
});

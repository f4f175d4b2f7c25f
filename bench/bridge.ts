import { pino } from "pino";
import { createApp } from "../src/app/create-app.ts";
import { loadConfig } from "../src/app/load-config.ts";
import { createAdapter } from "./noop-adapter.ts";

/** The real Bridge with an agent that does nothing. The environment contains the settings; the first line on stdout is the address. */
const { config } = loadConfig(process.env);
const app = await createApp(config, pino({ level: config.logLevel }), { adapters: [{ provider: "noop", adapter: createAdapter() }] });
const address = await app.start();
console.log(JSON.stringify({ address }));
process.once("SIGTERM", () => void app.close());

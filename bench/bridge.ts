import { pino } from "pino";
import { createApp } from "../src/app/create-app.ts";
import { loadConfig } from "../src/app/load-config.ts";
import { createAdapter } from "./noop-adapter.ts";

/** The real Bridge with an agent that does nothing. The environment contains the settings; the first line on stdout is the address. */
const isAcceptOnly = process.env["BENCH_ACCEPT_ONLY"] === "1";
const { config } = loadConfig({ ...process.env, ...(isAcceptOnly && { BRIDGE_MAX_CONCURRENT: "1", BRIDGE_DRAIN_SECONDS: "0" }) });
const adapter = createAdapter();
// The first task keeps the only slot, so that all others stay queued.
if (isAcceptOnly) adapter.execute = () => new Promise(() => {});
const app = await createApp(config, pino({ level: config.logLevel }), { adapters: [{ provider: "noop", adapter }] });
const address = await app.start();
console.log(JSON.stringify({ address }));
process.once("SIGTERM", () => void (isAcceptOnly ? process.exit() : app.close()));

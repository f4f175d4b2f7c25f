import { existsSync } from "node:fs";
import closeWithGrace from "close-with-grace";
import { pino } from "pino";
import { createApp } from "./app.ts";
import { loadConfig } from "./config.ts";
import { ConfigError } from "./errors.ts";

/** Beyond the drain time: a stopped runtime's grace (15 s), its adapter's shutdown (15 s), the last answers (7 s), the last callbacks (4 s). */
const CLOSE_MARGIN_MS = 45_000;

try {
  await serve();
} catch (error) {
  // What the operator can mend is told in words; anything else keeps its stack.
  console.error(error instanceof ConfigError ? error.message : error);
  // Not by an exit code alone: a start that fails halfway has the port open already, and would hold it without serving.
  process.exit(1);
}

async function serve(): Promise<void> {
  // What the environment says already goes before the file.
  if (existsSync(".env")) process.loadEnvFile();
  const { config, warnings } = loadConfig(process.env);
  const logger = pino({
    level: config.logLevel,
    redact: ["req.headers.authorization", "*.apiKey", "*.token", "env"],
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
  });
  const app = await createApp(config, logger);
  closeWithGrace({ delay: config.drainSeconds * 1000 + CLOSE_MARGIN_MS, logger: false }, async ({ signal, err }) => {
    if (err) logger.fatal({ err }, "stopping after an unexpected error");
    else logger.info({ signal }, "stopping");
    await app.close();
    logger.info("stopped");
  });
  await app.start();
  for (const warning of warnings) logger.warn(warning);
}

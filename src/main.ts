import { once } from "node:events";
import { existsSync } from "node:fs";
import { withTimeout } from "@hak2i/async-kit";
import closeWithGrace from "close-with-grace";
import { pino } from "pino";
import { createApp } from "./app/create-app.ts";
import { loadConfig } from "./app/load-config.ts";
import { BridgeError, StartError } from "./errors.ts";

/** Beyond the drain time: a stopped runtime's grace (15 s), its adapter's shutdown (15 s), the last answers (10 s), the last callbacks (4 s). */
const CLOSE_MARGIN_MS = 45_000;
/** How long the last line of the log may take to be written. */
const LAST_LINE_MS = 500;
/** Log lines that may wait to be written; what is beyond is lost. */
const MAX_UNWRITTEN_BYTES = 16 * 1024 ** 2;
/** What the system refuses at a start, and what the operator can do about it. */
const remedies: Readonly<Record<string, string>> = {
  EADDRINUSE: "Another program listens there: stop it, or choose another BRIDGE_PORT.",
  EADDRNOTAVAIL: "This machine does not have that address: choose another BRIDGE_HOST.",
  ENOTFOUND: "No address is known for that name: choose another BRIDGE_HOST.",
  EACCES: "Give the user that Bridge runs as the right to it, or choose another BRIDGE_DATA_DIR or BRIDGE_PORT.",
  EEXIST: "A file exists where a directory is needed: choose another BRIDGE_DATA_DIR.",
  ENOTDIR: "A file exists where a directory is needed: choose another BRIDGE_DATA_DIR.",
  EROFS: "Choose a BRIDGE_DATA_DIR that can be written.",
  ENOSPC: "The disk of BRIDGE_DATA_DIR is full: free some space.",
  EDQUOT: "The disk quota of BRIDGE_DATA_DIR is used up: free some space.",
  SQLITE_FULL: "Free some space on the disk of the database (BRIDGE_DATA_DIR, BRIDGE_DATABASE_URL).",
  SQLITE_CANTOPEN: "See to its directory (BRIDGE_DATA_DIR, BRIDGE_DATABASE_URL) and the rights to it.",
  SQLITE_READONLY: "See to its directory (BRIDGE_DATA_DIR, BRIDGE_DATABASE_URL) and the rights to it.",
};

try {
  await serve();
} catch (error) {
  console.error(explain(error));
  // Not by an exit code alone: a start that fails halfway has the port open already, and would hold it without serving.
  process.exit(1);
}

async function serve(): Promise<void> {
  // What the environment says already goes before the file.
  if (existsSync(".env")) process.loadEnvFile();
  const { config, warnings } = loadConfig(process.env);
  const log = openLog();
  const logger = pino(
    {
      level: config.logLevel,
      redact: ["req.headers.authorization", "*.apiKey", "*.token", "env"],
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    log,
  );
  const app = await createApp(config, logger);
  const graceMs = config.drainSeconds * 1000 + CLOSE_MARGIN_MS;
  closeWithGrace({ delay: graceMs, logger: false, skip: ["unhandledRejection"] }, async ({ signal, err }) => {
    if (err) logger.fatal({ err }, "stopping after an unexpected error");
    else logger.info({ signal }, "stopping");
    await app.close();
    // At the exit itself the library would try for ever to write to a reader that has gone: it has to learn that before.
    const written = withTimeout(once(log, "drain"), LAST_LINE_MS, () => {}).catch(() => {});
    logger.info("stopped");
    await written;
    // What has not been taken by now is lost: the exit would wait for a reader that stands still.
    log.flushSync = () => {};
  });
  // A rejection that nobody handles comes here, too.
  const { emit }: NodeJS.EventEmitter = process;
  process.setUncaughtExceptionCaptureCallback((error) => {
    if (!app.takeFault(error)) emit.call(process, "uncaughtException", error);
  });
  await app.start();
  for (const warning of warnings) logger.warn(warning);
  void app.suggestAdapters();
}

/** Standard output. That nobody takes the lines (a full disk, a reader that has gone) must stop nothing: they are kept, up to a limit, for the next try. */
function openLog() {
  const log = pino.destination({ dest: 1, sync: false, maxLength: MAX_UNWRITTEN_BYTES });
  log.on("error", () => {
    // At an exit the library would try for ever.
    log.flushSync = () => {};
  });
  return log;
}

/** What the operator can mend is told in words; anything else keeps its stack. */
function explain(error: unknown): unknown {
  if (error instanceof StartError) return error.message;
  // For example, a read at the start met a damaged page.
  if (error instanceof BridgeError) return `Bridge cannot start: ${error.message}`;
  const remedy = error instanceof Error && "code" in error ? remedies[String(error.code)] : undefined;
  return remedy === undefined ? error : `Bridge cannot start: ${(error as Error).message}. ${remedy}`;
}

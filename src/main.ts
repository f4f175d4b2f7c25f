import { once } from "node:events";
import { isatty } from "node:tty";
import { styleText } from "node:util";
import { withTimeout } from "@hak2i/async-kit";
import closeWithGrace from "close-with-grace";
import { pino } from "pino";
import { checkPort } from "./app/check-port.ts";
import { type App, createApp } from "./app/create-app.ts";
import { createLogger } from "./app/create-logger.ts";
import { findDatabaseCommand } from "./app/database-commands.ts";
import { loadConfig } from "./app/load-config.ts";
import { summarizeConfig } from "./app/summarize-config.ts";
import type { Config } from "./config/config.ts";
import { readEnvFile } from "./config/read-env-file.ts";
import { BridgeError, StartError, StopError } from "./errors.ts";

/**
 * Shutdown time beyond the drain time: the grace of a stopped runtime (15 s), the shutdown of its adapter (15 s), the
 * last responses (10 s), and the last callbacks (4 s).
 */
const CLOSE_MARGIN_MS = 45_000;
/** Maximum time to write log lines on which something waits. */
const WRITE_LIMIT_MS = 500;
/** Maximum size of the log lines that wait to be written. Later lines are lost. */
const MAX_UNWRITTEN_BYTES = 16 * 1024 ** 2;
/** Remedies for errors of the system at the start, by error code. */
const remedies: Readonly<Record<string, string>> = {
  EADDRINUSE: "Another program listens on this port. Stop it, or choose another BRIDGE_PORT.",
  EADDRNOTAVAIL: "This host does not have that address. Choose another BRIDGE_HOST.",
  ENOTFOUND: "The host name has no address. Choose another BRIDGE_HOST.",
  EACCES: "Grant the user that runs Bridge access to it, or choose another BRIDGE_DATA_DIR or BRIDGE_PORT.",
  EEXIST: "A file exists where a directory is needed. Choose another BRIDGE_DATA_DIR.",
  ENOTDIR: "A file exists where a directory is needed. Choose another BRIDGE_DATA_DIR.",
  EROFS: "Choose a writable BRIDGE_DATA_DIR.",
  ENOSPC: "The disk of BRIDGE_DATA_DIR is full. Free some space.",
  EDQUOT: "The disk quota of BRIDGE_DATA_DIR is used up. Free some space.",
  SQLITE_FULL: "Free some space on the disk of the database (BRIDGE_DATA_DIR, BRIDGE_DATABASE_URL).",
  SQLITE_CANTOPEN: "Check that its directory exists and is writable (BRIDGE_DATA_DIR, BRIDGE_DATABASE_URL).",
  SQLITE_READONLY: "Check that its directory exists and is writable (BRIDGE_DATA_DIR, BRIDGE_DATABASE_URL).",
};

// A failed write to stderr, for example to a full disk or a closed pipe, must not end Bridge. The log goes to stdout.
process.stderr.on("error", () => {});

try {
  const command = findDatabaseCommand(process.argv.slice(2));
  // Variables of the environment take precedence over the file.
  for (const [name, value] of Object.entries(readEnvFile())) process.env[name] ??= value;
  if (command === null) await serve();
  else console.log(await command(process.env));
} catch (error) {
  console.error(explain(error));
  // Exits at once, because a start that fails halfway can have bound the port and would keep it without serving.
  process.exit(1);
}

async function serve(): Promise<void> {
  const { config, warnings } = loadConfig(process.env);
  const log = openLog();
  const logger = createLogger(config.logLevel, log, await chooseFormat(config));
  await checkPort(config);
  const app = await createApp(config, logger);
  const graceMs = config.drainSeconds * 1000 + CLOSE_MARGIN_MS;
  let isClosing = false;
  const closing = closeWithGrace({ delay: graceMs, logger: false, skip: ["unhandledRejection"] }, async ({ signal, err }) => {
    isClosing = true;
    if (err instanceof StopError) logger.fatal(err.message);
    else if (err) logger.fatal({ err }, "stopping after an unexpected error");
    else logger.info({ signal }, "stopping");
    await app.close();
    // At the exit, pino would retry forever if the reader has exited, so the last line is written before.
    await untilWritten(log, () => logger.info("stopped"));
    // Lines that are not written yet are lost, because the exit would wait for a stalled reader.
    log.flushSync = () => {};
  });
  // Unhandled rejections arrive here, too.
  const { emit }: NodeJS.EventEmitter = process;
  process.setUncaughtExceptionCaptureCallback((error) => {
    if (!app.reportIsolatedError(error)) emit.call(process, "uncaughtException", error);
  });
  // A second error would end the process at once, before the runtimes have ended.
  void app.failed.then((error) => isClosing || emit.call(process, "uncaughtException", error));
  void app.drainRequested.then(() => {
    if (isClosing) return;
    logger.info("an operator has asked this node to drain");
    closing.close();
  });
  try {
    await app.start();
  } catch (error) {
    // Bridge was stopped while it waited to join the other nodes.
    if (isClosing) return;
    throw error;
  }
  const logConfiguration = () => {
    logger.info(summarizeConfig(config, process.env), "configuration");
    for (const warning of warnings) logger.warn(warning);
  };
  if (process.stderr.isTTY) {
    // The link is easier to find after these lines.
    await untilWritten(log, logConfiguration);
    await printSignInUrl(app);
  } else logConfiguration();
  void app.suggestAdapters();
}

/** Prints the link for the person at the terminal, and not to a log, because it signs in anyone who has it. */
async function printSignInUrl(app: App): Promise<void> {
  // Without the database, Bridge runs on, and people sign in with the token.
  const url = await app.createSignInUrl().catch(() => null);
  if (url === null) return;
  const link = styleText(["bold", "cyan"], url, { stream: process.stderr });
  process.stderr.write(`\nConsole (signs you in once, within 60 seconds):\n\n  ${link}\n\n`);
}

/** Returns what formats the log lines for people, or undefined for JSON. Only a start on a terminal loads this code. */
async function chooseFormat({ logFormat }: Config): Promise<((line: string) => string) | undefined> {
  // `process.stdout` would change the mode of a pipe, so nothing here uses it.
  const isTerminal = isatty(1);
  if (logFormat === "json" || (logFormat === "auto" && !isTerminal)) return undefined;
  const { formatLogLine } = await import("./app/format-log-line.ts");
  const hasColors = isTerminal && process.stderr.isTTY && process.stderr.hasColors();
  return (line) => formatLogLine(line, { hasColors });
}

/** Resolves when the lines that `write` logs are written, or after a limit if the log cannot be written. */
async function untilWritten(log: ReturnType<typeof openLog>, write: () => void): Promise<void> {
  const written = withTimeout(once(log, "drain"), WRITE_LIMIT_MS, () => {}).catch(() => {});
  write();
  await written;
}

/**
 * Opens stdout. If it cannot be written (a full disk, a reader that has exited), Bridge continues, and lines are kept
 * up to a limit and retried.
 */
function openLog() {
  const log = pino.destination({ dest: 1, sync: false, maxLength: MAX_UNWRITTEN_BYTES });
  log.on("error", () => {
    // At the exit, pino would retry forever.
    log.flushSync = () => {};
  });
  return log;
}

/** Returns a message for errors that the operator can correct, and the error with its stack otherwise. */
function explain(error: unknown): unknown {
  if (error instanceof StartError) return error.message;
  // For example, a read at the start found a damaged page of the database.
  if (error instanceof BridgeError) return `Bridge cannot start: ${error.message}`;
  const remedy = error instanceof Error && "code" in error ? remedies[String(error.code)] : undefined;
  return remedy === undefined ? error : `Bridge cannot start: ${(error as Error).message}. ${remedy}`;
}

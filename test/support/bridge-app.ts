import { pino } from "pino";
import { onTestFinished } from "vitest";
import { createApp } from "../../src/app/create-app.ts";
import { loadConfig } from "../../src/app/load-config.ts";
import { type BridgeProgram, createCall, SHARED_TOKEN, sharedSettings } from "./bridge-program.ts";
import { databaseOf } from "./database-subject.ts";
import type { AtEnd } from "./database-subject-types.ts";

/** A Bridge with the adapters that it ships with, in the process of the test. */
export interface BridgeApp extends Pick<BridgeProgram, "url" | "log" | "call"> {
  /** Shuts down as after SIGTERM. */
  close(): Promise<void>;
}

/**
 * Starts Bridge on a free port with the settings of `startBridgeProgram`, and closes it at the end of the test. It costs a tenth of the CPU
 * time of a process. Use `startBridgeProgram` only for tests of the process: its signals, exit code, output, memory, descriptors or
 * environment.
 */
export async function startBridgeApp(
  dataDir: string,
  settings: Record<string, string> = {},
  atEnd: AtEnd = onTestFinished,
): Promise<BridgeApp> {
  const environment = {
    PATH: "/usr/bin:/bin",
    BRIDGE_PORT: "0",
    BRIDGE_DATA_DIR: dataDir,
    BRIDGE_CALLBACK_ALLOW: "127.0.0.1",
    ...sharedSettings,
    ...(await databaseOf(dataDir, atEnd)).settings,
    ...settings,
  };
  const log: Record<string, unknown>[] = [];
  const logger = pino({ level: "trace" }, { write: (line: string) => void log.push(JSON.parse(line)) });
  // Other load of the machine must not change what a test observes.
  const app = await createApp(loadConfig(environment).config, logger, { environment, maxEventLoopDelayMs: 0 });
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= app.close());
  atEnd(close);
  const url = await app.start();
  return { url, log, call: createCall(url, () => SHARED_TOKEN), close };
}

import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";

/** The Bridge that the demo starts. */
export interface BridgeProcess {
  url: string;
  token: string;
  version: string;
  /** The last lines of its log, to explain a failure. */
  lastLines(): string;
  /** Resolves when the process has exited. */
  ended: Promise<void>;
  /** Stops the process; resolves when it has exited. */
  close(): Promise<void>;
}

export interface BridgeOptions {
  /** Bridge's data directory. */
  directory: string;
  /** The secret that signs callbacks. */
  secret: string;
  signal: AbortSignal;
  /** Further settings. */
  settings?: Readonly<Record<string, string>>;
}

const repository = path.resolve(import.meta.dirname, "../..");
const KILL_AFTER_MS = 15_000;
const KEPT_LINES = 15;

/** Starts Bridge as a child process on a free port; resolves when it listens. */
export async function startBridge({ directory, secret, signal, settings }: BridgeOptions): Promise<BridgeProcess> {
  const token = `demo_${randomBytes(24).toString("base64url")}`;
  const child = spawn(process.execPath, ["src/start.js"], {
    cwd: repository,
    env: {
      ...createEnvironment(),
      BRIDGE_PORT: "0",
      BRIDGE_DATA_DIR: directory,
      BRIDGE_GATEWAY_TOKEN_HASH: createHash("sha256").update(token).digest("hex"),
      BRIDGE_CALLBACK_SECRETS: secret,
      BRIDGE_CALLBACK_ALLOW: "127.0.0.1",
      ...settings,
    },
    stdio: ["ignore", "pipe", "pipe"],
    // Ctrl-C signals the whole process group of the terminal. In its own group, Bridge receives only the signal of `stop()`.
    detached: true,
  });
  const ended = once(child, "close").then(() => {});
  const lines: string[] = [];
  const started = Promise.withResolvers<{ address: string; version: string }>();
  const keep = (line: string): void => void lines.splice(0, lines.push(line) - KEPT_LINES);
  createInterface({ input: child.stderr }).on("line", keep);
  createInterface({ input: child.stdout }).on("line", (line) => {
    keep(line);
    const { msg, address, version } = readEntry(line);
    if (msg === "listening" && address !== undefined && version !== undefined) started.resolve({ address, version });
  });
  const lastLines = (): string => lines.join("\n");
  ended.then(
    () => started.reject(new Error(`Bridge did not start:\n${lastLines()}`)),
    (error) => started.reject(error),
  );

  const stop = (): void => void child.kill("SIGTERM");
  // Stops Bridge also when the demo fails.
  process.once("exit", stop);

  async function close(): Promise<void> {
    stop();
    const timer = setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS);
    await ended;
    clearTimeout(timer);
    process.removeListener("exit", stop);
  }

  const onAbort = (): void => started.reject(signal.reason);
  signal.addEventListener("abort", onAbort);
  try {
    signal.throwIfAborted();
    const { address: url, version } = await started.promise;
    return { url, token, version, lastLines, ended, close };
  } catch (error) {
    await close();
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Returns the environment without settings of another Bridge on this machine. */
function createEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(BRIDGE|GATEWAY)_/.test(name)));
}

/** Parses a line of the log; a line that is not JSON has no fields. */
function readEntry(line: string): { msg?: string; address?: string; version?: string } {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { scaled } from "../../harness/machine.ts";
import { findFreePort } from "../../support/find-free-port.ts";
import { runtimesPath } from "../programs.ts";

const START_LIMIT_MS = 180_000;
/** The name of the scripted model in the gateway. */
export const gatewayModel = "custom/scripted";

/** A real gateway with separate directories. */
export interface RealGateway {
  url: string;
  token: string;
  /** OPENCLAW_STATE_DIR, OPENCLAW_CONFIG_PATH, and the workspace of the default agent. */
  stateDir: string;
  configPath: string;
  workspace: string;
  /** Its command line and its environment, for calls of its CLI. */
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  readonly pid: number;
  /** The end of its log. */
  log(): string;
  /** Kills it and its child processes, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again in the same directories; kills it first if it runs. */
  restart(): Promise<void>;
  /** Kills it, and removes its directories. */
  close(): Promise<void>;
}

/** Starts the real gateway with the scripted model as its model; resolves when it is ready. `change` may alter its configuration first. */
export async function startGateway({
  modelUrl,
  change = () => {},
}: {
  modelUrl: string;
  change?: (config: ReturnType<typeof configOf>) => void;
}): Promise<RealGateway> {
  const root = mkdtempSync(path.join(tmpdir(), "bridge-openclaw-"));
  const directories = { home: path.join(root, "home"), stateDir: path.join(root, "state"), workspace: path.join(root, "workspace") };
  for (const directory of [...Object.values(directories), path.join(root, "tmp")]) mkdirSync(directory);
  const { home, stateDir, workspace } = directories;
  const configPath = path.join(stateDir, "openclaw.json");
  const logFile = path.join(root, "output.log");
  const token = randomBytes(24).toString("hex");
  const port = await findFreePort();
  const config = configOf({ port, token, modelUrl, workspace, logFile: path.join(root, "gateway.log") });
  change(config);
  writeFileSync(configPath, JSON.stringify(config, null, 2));
  const argv = [process.execPath, path.join(runtimesPath(), "openclaw")];
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    TMPDIR: path.join(root, "tmp"),
    OPENCLAW_STATE_DIR: stateDir,
    OPENCLAW_CONFIG_PATH: configPath,
    OPENCLAW_DISABLE_BONJOUR: "1",
    OPENCLAW_NO_RESPAWN: "1",
    OPENCLAW_EXEC_SHELL_SNAPSHOT: "0",
    OPENCLAW_SKIP_CHANNELS: "1",
  };
  const log = (): string => readFileSync(logFile, "utf8").slice(-4_000);
  let child: ChildProcess | null = null;

  const start = async (): Promise<void> => {
    const [command = "", ...args] = [...argv, "gateway"];
    const output = createWriteStream(logFile, { flags: "a" });
    await once(output, "open");
    const started = spawn(command, args, { cwd: root, env, stdio: ["ignore", output, output], detached: true });
    output.close();
    child = started;
    const exited = once(started, "exit").then(() => "exited" as const);
    const deadline = performance.now() + scaled(START_LIMIT_MS);
    while (!(await isReady(port))) {
      const outcome = await Promise.race([exited, delay(100)]);
      if (outcome === "exited" || performance.now() > deadline) {
        await kill();
        throw new Error(`The gateway did not start:\n${log()}`);
      }
    }
  };
  const kill = async (): Promise<void> => {
    if (child === null) return;
    const gone = child.exitCode !== null || child.signalCode !== null ? null : once(child, "exit");
    child.kill("SIGKILL");
    child = null;
    await gone;
    // Its child processes are in separate process groups, and inherit its environment.
    for (const pid of processesWith(`OPENCLAW_STATE_DIR=${stateDir}`)) killQuietly(pid);
  };
  // No process of the gateway outlives the tests.
  const killAtExit = (): void => {
    for (const pid of processesWith(`OPENCLAW_STATE_DIR=${stateDir}`)) killQuietly(pid);
  };
  process.once("exit", killAtExit);
  const close = async (): Promise<void> => {
    await kill();
    process.removeListener("exit", killAtExit);
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  };
  await start().catch(async (error: unknown) => {
    await close();
    throw error;
  });

  return {
    url: `ws://127.0.0.1:${port}`,
    token,
    stateDir,
    configPath,
    workspace,
    argv,
    env,
    get pid() {
      return child?.pid ?? -1;
    },
    log,
    kill,
    async restart() {
      await kill();
      await start();
    },
    close,
  };
}

/** Disables heartbeat, cron, telemetry and chat channels, which would call a model without a task. */
const configOf = (given: { port: number; token: string; modelUrl: string; workspace: string; logFile: string }) => ({
  gateway: { mode: "local", bind: "loopback", port: given.port, auth: { mode: "token", token: given.token } },
  logging: { file: given.logFile },
  update: { checkOnStart: false },
  cron: { enabled: false },
  skills: { workshop: { autonomous: { mode: "off" } }, install: { allowUploadedArchives: true } },
  agents: {
    defaults: { workspace: given.workspace, skipBootstrap: true, model: { primary: gatewayModel }, heartbeat: { every: "0m" } },
  } as Record<string, unknown>,
  models: {
    mode: "merge",
    providers: {
      custom: {
        baseUrl: `${given.modelUrl}/v1`,
        apiKey: "sk-of-the-runtime-suite",
        api: "openai-completions",
        // The scripted model identifies the client by this header.
        headers: { "user-agent": "openclaw" },
        models: [
          {
            id: "scripted",
            name: "Scripted",
            reasoning: false,
            input: ["text"],
            cost: { input: 1, output: 2, cacheRead: 0.5, cacheWrite: 0 },
            contextWindow: 1_000_000,
            maxTokens: 8_192,
          },
        ],
      },
    },
  },
});

async function isReady(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
  await response?.body?.cancel();
  return response?.status === 200;
}

function processesWith(variable: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return `\0${readFileSync(`/proc/${pid}/environ`, "utf8")}`.includes(`\0${variable}\0`);
      } catch {
        return false;
      }
    })
    .map(Number);
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has already exited.
  }
}

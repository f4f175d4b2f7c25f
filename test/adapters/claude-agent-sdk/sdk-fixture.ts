import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { onTestFinished } from "vitest";
import type { AdapterConfig, ExecutionRequest } from "#contract";
import { createClaudeAgentSdkAdapter } from "../../../adapters/claude-agent-sdk/index.ts";
import { createAdapterConfig } from "../../conformance/adapter-config.ts";
import { startTask } from "../../runtimes/start-task.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const scriptedSdk = path.join(import.meta.dirname, "../../fixtures/programs/scripted-sdk.js");
/** Shell commands that print the JSON lines of Claude Code. */
export const init = `echo '{"type":"system","subtype":"init","session_id":"s-1","model":"m","mcp_servers":[]}'`;
export const say = (text: string) =>
  `echo '{"type":"assistant","message":{"id":"m1","model":"m","content":[{"type":"text","text":"${text}"}]},"parent_tool_use_id":null}'`;
export const result = (fields: object) => `echo '${JSON.stringify({ type: "result", subtype: "success", is_error: false, ...fields })}'`;

/** Installs an SDK in `root`, by default the scripted one, and a program that is this shell script; null for no program. */
export function installSdk(
  root: string,
  {
    sdk,
    script,
    hasPlatformPackage = false,
    interpreter = "#!/bin/sh",
  }: { sdk?: string | undefined; script: string | null; hasPlatformPackage?: boolean; interpreter?: string },
) {
  const directory = path.join(root, "sdk");
  const modules = path.join(directory, "node_modules/@anthropic-ai");
  const install = (name: string, fields: object) => {
    mkdirSync(path.join(modules, name), { recursive: true });
    writeFileSync(path.join(modules, name, "package.json"), JSON.stringify({ name: `@anthropic-ai/${name}`, type: "module", ...fields }));
  };
  install("claude-agent-sdk", { version: "9.9.9", exports: "./sdk.js" });
  const module = path.join(modules, "claude-agent-sdk/sdk.js");
  if (sdk === undefined) cpSync(scriptedSdk, module);
  else writeFileSync(module, sdk);
  const platform = `claude-agent-sdk-${process.platform}-${process.arch}`;
  if (hasPlatformPackage) install(platform, { version: "9.9.9" });
  const program = hasPlatformPackage ? path.join(modules, platform, "claude") : path.join(root, "claude");
  if (script !== null) writeFileSync(program, `${interpreter}\n${script}\n`, { mode: 0o755 });
  return { directory, program };
}

/** Creates an initialized adapter with an SDK, by default the scripted one, and a program that is this shell script. */
export async function openSdk(
  script: string | null,
  {
    sdk,
    hasPlatformPackage = false,
    interpreter = "#!/bin/sh",
    requestApproval,
    ...settings
  }: {
    sdk?: string;
    hasPlatformPackage?: boolean;
    interpreter?: string;
    requestApproval?: AdapterConfig["requestApproval"];
    package?: string | undefined;
    command?: undefined;
  } = {},
) {
  const root = await temporaryDirectory();
  const { directory, program } = installSdk(root, { sdk, script, hasPlatformPackage, interpreter });

  const adapter = createClaudeAgentSdkAdapter();
  onTestFinished(() => adapter.shutdown());
  const found = { package: directory, command: program, ...settings };
  await adapter.initialize(
    createAdapterConfig(root, {
      settings: found,
      env: { PATH: process.env["PATH"] },
      ...(requestApproval === undefined ? {} : { requestApproval }),
    }),
  );
  const directories = { workspace: root, cwd: root, home: path.join(root, "home"), tmp: path.join(root, "tmp") };
  mkdirSync(directories.home);
  const start = (given: Partial<ExecutionRequest> = {}) => startTask(adapter, directories, given);
  return { adapter, root, start, run: async (given: Partial<ExecutionRequest> = {}) => (await start(given).done).result };
}

import path from "node:path";
import { nullIfAborted } from "@hak2i/async-kit";
import type { ConnectionResult, Probe, ProgramConnection, ProgramContext, ProgramTask } from "../shared/agent-program/agent-program.ts";
import { programCapabilities } from "../shared/agent-program/capabilities.ts";
import { getNativeSchema, isSchemaRefused } from "../shared/claude-code/native-schema.ts";
import { probeClaude } from "../shared/claude-code/probe-claude.ts";
import { planClaudeProxy } from "../shared/claude-code/proxy.ts";
import { checkSessionId } from "../shared/claude-code/session-id.ts";
import { writeFiles } from "../shared/claude-code/task-files.ts";
import { failure } from "../shared/process/failure.ts";
import { CANCELED, converse } from "./converse.ts";
import { findSdk } from "./find-sdk.ts";
import { findInstalledSdk, loadSdk, packageName } from "./sdk.ts";
import { homeSetting } from "./settings.ts";

/** Runs the SDK in Bridge's process, with one Claude Code process per task. `argv` is the Claude Code executable and the SDK's module. */
export const inProcessConnection: ProgramConnection = {
  name: "in-process",
  capabilities: programCapabilities,
  emptyAnswers: "accepted",
  planProxy: (context) => planClaudeProxy(context, homeSetting),
  find: findSdk,
  probe,
  execute,
};

const LOAD_LIMIT_MS = 10_000;
/** Flags that Bridge needs to enforce a task's profile. */
const REQUIRED_FLAGS = ["--restricted", "--setting-sources", "--settings", "--strict-mcp-config", "--system-prompt-snapshot", "--tools"];

async function probe([program = "", module = ""]: readonly string[], context: ProgramContext): Promise<Probe> {
  const limit = AbortSignal.any([
    AbortSignal.timeout(LOAD_LIMIT_MS),
    ...(context.shutdownSignal === undefined ? [] : [context.shutdownSignal]),
  ]);
  if ((await nullIfAborted(loadSdk(module, context.logger), limit)) === null)
    throw new Error(`${packageName} did not load within ${LOAD_LIMIT_MS / 1000} s.`);
  const version = findInstalledSdk(path.dirname(module))?.version ?? null;
  const advice = `npm install --no-save ${packageName}`;
  const claudeVersion = await probeClaude([program], context, REQUIRED_FLAGS, advice);
  return { version, detail: `${packageName} ${version} with Claude Code ${claudeVersion}` };
}

async function execute(task: ProgramTask, [program = "", module = ""]: readonly string[]): Promise<ConnectionResult> {
  const { request, context } = task;
  const tokenFailure = checkSessionId(request.resumeToken);
  if (tokenFailure !== null) return tokenFailure;
  const sdk = await nullIfAborted(
    loadSdk(module, context.logger).catch(() => loadFailure),
    task.signal,
  );
  if (sdk === null) return CANCELED;
  if ("status" in sdk) return sdk;
  await writeFiles(request);
  const schema = getNativeSchema(request);
  const result = await converse(task, { sdk, program, schema });
  if (schema === null || !isSchemaRefused(result.error)) return result;
  return await converse(task, { sdk, program, schema: null });
}

/** Omits the reason, which contains paths of this host and is only for the operator. */
const loadFailure: ConnectionResult = failure(
  "adapter_offline",
  "The Claude Agent SDK cannot be loaded. GET /api/v2/adapters reports the reason.",
);

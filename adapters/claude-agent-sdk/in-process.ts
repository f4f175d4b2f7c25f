import path from "node:path";
import { nullIfAborted } from "@hak2i/async-kit";
import type { ConnectionResult, Probe, ProgramConnection, ProgramContext, ProgramTask } from "../shared/agent-program/agent-program.ts";
import { programCapabilities } from "../shared/agent-program/capabilities.ts";
import { isSchemaRefused, nativeSchema } from "../shared/claude-code/native-schema.ts";
import { probeClaude } from "../shared/claude-code/probe-claude.ts";
import { checkSessionId } from "../shared/claude-code/session-id.ts";
import { writeFiles } from "../shared/claude-code/task-files.ts";
import { cancelled, converse } from "./converse.ts";
import { findSdk } from "./find-sdk.ts";
import { findInstalledSdk, loadSdk, packageName } from "./sdk.ts";

/** The SDK in Bridge's own process, with one Claude Code a task; its `argv` is that program and the module of the SDK. */
export const inProcessConnection: ProgramConnection = {
  name: "in-process",
  capabilities: programCapabilities,
  emptyAnswers: "accepted",
  find: findSdk,
  probe,
  execute,
};

const LOAD_LIMIT_MS = 10_000;
/** Flags without which a task would not be what its dispatch asked for. */
const neededFlags = ["--restricted", "--setting-sources", "--settings", "--strict-mcp-config", "--system-prompt-snapshot", "--tools"];

async function probe([program = "", module = ""]: readonly string[], context: ProgramContext): Promise<Probe> {
  const limit = AbortSignal.any([AbortSignal.timeout(LOAD_LIMIT_MS), ...(context.closed === undefined ? [] : [context.closed])]);
  if ((await nullIfAborted(loadSdk(module, context.logger), limit)) === null)
    throw new Error(`${packageName} was not loaded within ${LOAD_LIMIT_MS / 1000} s.`);
  const version = findInstalledSdk(path.dirname(module))?.version ?? null;
  const advice = `npm install --no-save ${packageName}`;
  const claudeVersion = await probeClaude([program], context, neededFlags, advice);
  return { version, detail: `${packageName} ${version} with Claude Code ${claudeVersion}` };
}

async function execute(task: ProgramTask, [program = "", module = ""]: readonly string[]): Promise<ConnectionResult> {
  const { request, context } = task;
  const refused = checkSessionId(request.resumeToken);
  if (refused !== null) return refused;
  const sdk = await nullIfAborted(
    loadSdk(module, context.logger).catch(() => unloadable),
    task.signal,
  );
  if (sdk === null) return cancelled;
  if ("status" in sdk) return sdk;
  await writeFiles(request);
  const schema = nativeSchema(request);
  const ending = await converse(task, { sdk, program, schema });
  if (schema === null || !isSchemaRefused(ending.error)) return ending;
  return await converse(task, { sdk, program, schema: null });
}

/** Why is for operators to read: it names files of the machine. */
const unloadable: ConnectionResult = {
  status: "error",
  errorCode: "adapter_offline",
  error: "The Claude Agent SDK cannot be loaded; GET /api/v2/adapters tells why.",
};

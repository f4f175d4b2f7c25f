import path from "node:path";
import { type AdapterCapabilities, type ExecutionAdapter, inputFieldsOf, isInputChecker } from "#contract";
import { BridgeError, type FieldError } from "../../errors.ts";
import type { DestinationGuard } from "../../network/destination-guard.ts";
import type { SchemaChecker } from "../../requests/schema-checker.ts";
import type { Task, TaskRequest } from "../../task.ts";
import { resolveDirectoryInside, resolveFileInside, type Workspaces } from "../../workspaces/workspace-directories.ts";

/** The adapter, limits and permissions that a dispatch is validated against. */
export interface ValidationContext {
  /** Null if it is not online on this node. Then it checks its inputs when the task starts on another node. */
  adapter: ExecutionAdapter | null;
  provider: string;
  capabilities: AdapterCapabilities;
  /** The capabilities of the loaded adapters. Error messages name the ones that could run the dispatch. */
  listCapabilities?(): readonly { provider: string; capabilities: AdapterCapabilities }[];
  guard: DestinationGuard;
  schemas: Pick<SchemaChecker, "findSchemaFault">;
  mcpCommands: readonly string[];
  tenant: string;
  /** Null if the agent lives on another node. Then paths are checked when the task starts. */
  workspace: string | null;
}

/** The adapter and the permissions of the node that runs a task. */
export type StartContext = Pick<ValidationContext, "provider" | "mcpCommands"> & {
  adapter: ExecutionAdapter;
  /** Null if the task runs in a work tree, whose paths are checked when it is opened. */
  workspace: string | null;
};

/** Maximum time to look up the hosts of all MCP servers of a dispatch. */
const MCP_LOOKUP_TIMEOUT_MS = 5000;

/** Rejects a dispatch if the adapter cannot carry out every field of it. No field is ignored. Throws BridgeError. */
export async function validateDispatch(request: TaskRequest, checks: ValidationContext): Promise<void> {
  checkCapabilities(request, checks);
  checkInputs(request, checks);
  checkCallbackUrl(request, checks.guard);
  // Most dispatches have nothing to wait for.
  if (request.outputStrategy.type !== "stream") await checkOutput(request, checks);
  const cwd = request.metadata?.["cwd"];
  // The workspace, and a directory that only the dispatch's files create, need not exist yet.
  if (typeof cwd === "string" && checks.workspace !== null && !isCreatedForTask(cwd, request))
    resolveDirectoryInside(checks.workspace, cwd);
  if (request.mcpServers !== undefined) await checkMcpServers(request.mcpServers, checks);
}

/**
 * Checks what depends on the node that runs the task, which need not be the node that accepted it. The working directory is checked when it
 * is prepared. Throws BridgeError.
 */
export function validateAtStart(request: TaskRequest, checks: StartContext): void {
  checkCapabilities(request, { ...checks, capabilities: checks.adapter.capabilities() });
  checkInputs(request, checks);
  rejectMcpServers(
    (request.mcpServers ?? []).flatMap((server, index) =>
      server.transport === "stdio" && !checks.mcpCommands.includes(server.command) ? [createCommandFault(index)] : [],
    ),
  );
  const { workspace } = checks;
  if (request.outputStrategy.type === "file" && workspace !== null) resolveFileInside(workspace, request.outputStrategy.path);
}

/** The workspace in which the paths of a request are; null if they are in a work tree. */
export const workspaceOfPaths = (
  { tenant, agentId, request }: Pick<Task, "tenant" | "agentId" | "request">,
  workspaces: Pick<Workspaces, "workspaceOf">,
): string | null => (request.repository === undefined ? workspaces.workspaceOf(tenant, agentId) : null);

/** Whether the directory is created before the task starts: the workspace itself, or a directory of the dispatch's files. */
const isCreatedForTask = (directory: string, { files = [] }: TaskRequest): boolean => {
  const normalized = path.posix.normalize(directory).replace(/\/$/, "");
  return normalized === "." || files.some((file) => file.path.startsWith(`${normalized}/`));
};

/** Messages of fields that need more than "does not support this; omit it". */
const missingText: Readonly<Record<string, string>> = {
  files: "has no workspace on this machine; omit it",
  "budget.onReached":
    'cannot hold a task between two calls of its model; send "stop", set BRIDGE_MODEL_PROXY=on if the adapter has the model proxy,',
};

type Requirement = [path: string, isRequired: boolean, isSupported: (capabilities: AdapterCapabilities) => boolean];

function checkCapabilities(
  request: TaskRequest,
  { provider, capabilities, listCapabilities = () => [] }: Pick<ValidationContext, "provider" | "capabilities" | "listCapabilities">,
): void {
  const requirements: Requirement[] = [
    ["resumeToken", request.resumeToken !== undefined, ({ sessionResume }) => sessionResume],
    ["mcpServers", (request.mcpServers?.length ?? 0) > 0, ({ mcpServers }) => mcpServers],
    ["tools", (request.tools?.length ?? 0) > 0, ({ tools }) => tools],
    ["files", (request.files?.length ?? 0) > 0, ({ fileIo }) => fileIo],
    ["approvals", request.approvals === "ask", ({ approvals }) => approvals],
    ["budget.onReached", request.budget?.onReached === "ask", ({ holdsModelCalls = false }) => holdsModelCalls],
    ...inputFieldsOf(request).map((field): Requirement => [field, true, ({ inputs = [] }) => inputs.includes(field)]),
    ["outputStrategy", true, ({ outputStrategies }) => outputStrategies.includes(request.outputStrategy.type)],
  ];
  const missing = requirements.filter(([, isRequired, isSupported]) => isRequired && !isSupported(capabilities));
  if (missing.length === 0) return;
  const loaded = listCapabilities();
  const errors: FieldError[] = missing.map(([path, , isSupported]) => {
    const others = loaded.filter((one) => isSupported(one.capabilities)).map((one) => one.provider);
    const examples = others.length === 0 ? "" : `, such as ${others.join(", ")}`;
    return {
      path,
      message: `the adapter ${provider} ${missingText[path] ?? "does not support this; omit it"} or choose another provider${examples}`,
    };
  });
  throw new BridgeError(
    "capability_missing",
    `The adapter ${provider} lacks a capability that the dispatch needs. \`errors\` lists the fields.`,
    { errors },
  );
}

/** Lets the adapter check inputs that only it understands. */
function checkInputs(request: TaskRequest, { adapter, provider }: Pick<ValidationContext, "adapter" | "provider">): void {
  const faults = adapter !== null && isInputChecker(adapter) ? adapter.checkInput(request) : [];
  const errors = faults.map(({ path, message }) => ({ path, message }));
  if (errors.length === 0) return;
  if (faults.every(({ isProfileConflict }) => isProfileConflict === true))
    throw new BridgeError("profile_conflict", "The dispatch needs another profile. `errors` lists the reason.", { errors });
  if (faults.some(({ isRefused, isProfileConflict }) => isRefused !== true && isProfileConflict !== true))
    throw new BridgeError("invalid_request", "The dispatch is not valid.", { errors });
  throw new BridgeError(
    "capability_missing",
    `The adapter ${provider} does not allow the values of some fields of the dispatch. \`errors\` lists them.`,
    { errors },
  );
}

function checkCallbackUrl({ callbackUrl }: TaskRequest, guard: DestinationGuard): void {
  const reason = callbackUrl === undefined ? null : guard.checkUrl(callbackUrl);
  if (reason === null) return;
  throw new BridgeError("callback_url_refused", `callbackUrl ${reason}.`, { errors: [{ path: "callbackUrl", message: reason }] });
}

/** The runtime connects to the MCP servers itself, so Bridge checks their destinations before the task starts. */
async function checkMcpServers(
  mcpServers: NonNullable<TaskRequest["mcpServers"]>,
  { guard, tenant, mcpCommands }: ValidationContext,
): Promise<void> {
  const errors: FieldError[] = [];
  const deadline = performance.now() + MCP_LOOKUP_TIMEOUT_MS;
  // Sequentially, so that a dispatch with many hosts does not load the name servers more than others do.
  for (const [index, server] of mcpServers.entries()) {
    if (server.transport === "stdio") {
      if (!mcpCommands.includes(server.command)) errors.push(createCommandFault(index));
      continue;
    }
    const reason = await guard.checkDestination(server.url, tenant, deadline - performance.now());
    if (reason !== null) errors.push({ path: `mcpServers.${index}.url`, message: reason });
  }
  rejectMcpServers(errors);
}

function rejectMcpServers(errors: readonly FieldError[]): void {
  if (errors.length > 0)
    throw new BridgeError("mcp_refused", "An MCP server of the dispatch is not permitted. `errors` lists the reasons.", { errors });
}

const createCommandFault = (index: number): FieldError => ({
  path: `mcpServers.${index}.command`,
  message: "is not in BRIDGE_MCP_COMMANDS; ask the operator to add it",
});

async function checkOutput({ outputStrategy }: TaskRequest, { tenant, workspace, schemas }: ValidationContext): Promise<void> {
  if (outputStrategy.type === "file" && workspace !== null) resolveFileInside(workspace, outputStrategy.path);
  if (outputStrategy.type !== "structured") return;
  const fault = await schemas.findSchemaFault(tenant, outputStrategy.schema);
  if (fault === null) return;
  throw new BridgeError("invalid_request", "The output schema is not a valid JSON Schema.", {
    errors: [{ path: "outputStrategy.schema", message: fault }],
  });
}

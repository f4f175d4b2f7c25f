import path from "node:path";
import { type ExecutionAdapter, type GatewayCapabilities, isInputChecker } from "#contract";
import { BridgeError, type FieldError } from "../errors.ts";
import type { DestinationGuard } from "../network/destination-guard.ts";
import type { SchemaChecker } from "../requests/schema-checker.ts";
import type { TaskRequest } from "../task.ts";
import { resolveDirectoryInside, resolveFileInside } from "../workspaces/workspace-directories.ts";

/** What a dispatch is checked against. */
export interface Checks {
  adapter: ExecutionAdapter;
  provider: string;
  capabilities: GatewayCapabilities;
  /** The capabilities of loaded adapters, for error messages. */
  listCapabilities?(): readonly { provider: string; capabilities: GatewayCapabilities }[];
  guard: DestinationGuard;
  schemas: Pick<SchemaChecker, "findSchemaFault">;
  mcpCommands: readonly string[];
  tenant: string;
  workspace: string;
}

/** How long the hosts of a dispatch's MCP servers may take to be looked up, all together. */
const MCP_LOOKUP_TIMEOUT_MS = 5000;

/** Refuses a dispatch that cannot be carried out as it says; nothing of it is dropped silently. */
export async function validateDispatch(request: TaskRequest, checks: Checks): Promise<void> {
  checkCapabilities(request, checks);
  checkInputs(request, checks);
  checkCallbackUrl(request, checks.guard);
  await checkOutput(request, checks);
  const cwd = request.metadata?.["cwd"];
  // The workspace, and a directory that the dispatch's files create, do not exist yet.
  if (typeof cwd === "string" && !isMadeForTask(cwd, request)) resolveDirectoryInside(checks.workspace, cwd);
  await checkMcpServers(request, checks);
}

/** The workspace itself is made before the task starts, and a directory of its files is, too. */
const isMadeForTask = (directory: string, { files = [] }: TaskRequest): boolean => {
  const normalized = path.posix.normalize(directory).replace(/\/$/, "");
  return normalized === "." || files.some((file) => file.path.startsWith(`${normalized}/`));
};

/** Reasons for fields for which "does not support this" is not specific enough. */
const lacks: Readonly<Record<string, string>> = { files: "has no workspace on this machine" };

function checkCapabilities(request: TaskRequest, { provider, capabilities, listCapabilities = () => [] }: Checks): void {
  const wanted: [path: string, wanted: boolean, isAble: (able: GatewayCapabilities) => boolean][] = [
    ["resumeToken", request.resumeToken !== undefined, ({ sessionResume }) => sessionResume],
    ["mcpServers", (request.mcpServers?.length ?? 0) > 0, ({ mcpServers }) => mcpServers],
    ["tools", (request.tools?.length ?? 0) > 0, ({ tools }) => tools],
    ["files", (request.files?.length ?? 0) > 0, ({ fileIo }) => fileIo],
    ["approvals", request.approvals === "ask", ({ approvals }) => approvals],
    ["bridgeInput", request.bridgeInput !== undefined, ({ inputs }) => inputs?.includes("bridgeInput") === true],
    ["responderInput", request.responderInput !== undefined, ({ inputs }) => inputs?.includes("responderInput") === true],
    ["outputStrategy", true, ({ outputStrategies }) => outputStrategies.includes(request.outputStrategy.type)],
  ];
  const missing = wanted.filter(([, isWanted, isAble]) => isWanted && !isAble(capabilities));
  if (missing.length === 0) return;
  const loaded = listCapabilities();
  const errors: FieldError[] = missing.map(([path, , isAble]) => {
    const able = loaded.filter((one) => isAble(one.capabilities)).map((one) => one.provider);
    const others = able.length === 0 ? "" : `, such as ${able.join(", ")}`;
    return {
      path,
      message: `the adapter ${provider} ${lacks[path] ?? "does not support this"}; omit it or choose another provider${others}`,
    };
  });
  throw new BridgeError(
    "capability_missing",
    `The adapter ${provider} lacks a capability that the dispatch needs. errors lists the fields.`,
    { errors },
  );
}

/** Inputs that only their adapter understands. */
function checkInputs(request: TaskRequest, { adapter, provider }: Checks): void {
  const faults = isInputChecker(adapter) ? adapter.checkInput(request) : [];
  const errors = faults.map(({ path, message }) => ({ path, message }));
  if (faults.some(({ isRefused }) => isRefused !== true))
    throw new BridgeError("invalid_request", "The dispatch is not valid.", { errors });
  if (errors.length > 0)
    throw new BridgeError("capability_missing", `The adapter ${provider} may not do what the dispatch asks for.`, { errors });
}

function checkCallbackUrl({ callbackUrl }: TaskRequest, guard: DestinationGuard): void {
  const reason = callbackUrl === undefined ? null : guard.checkUrl(callbackUrl);
  if (reason === null) return;
  throw new BridgeError("callback_url_refused", `callbackUrl ${reason}.`, { errors: [{ path: "callbackUrl", message: reason }] });
}

/** The runtime connects to these by itself: what can be known of where their URLs lead is found out now. */
async function checkMcpServers({ mcpServers = [] }: TaskRequest, { guard, tenant, mcpCommands }: Checks): Promise<void> {
  const errors: FieldError[] = [];
  const deadline = performance.now() + MCP_LOOKUP_TIMEOUT_MS;
  // One after the other: a dispatch that names a thousand hosts asks no more of the resolver than any other.
  for (const [index, server] of mcpServers.entries()) {
    if (server.transport === "stdio") {
      if (!mcpCommands.includes(server.command)) {
        errors.push({ path: `mcpServers.${index}.command`, message: "is not one of BRIDGE_MCP_COMMANDS; the operator can add it there" });
      }
      continue;
    }
    const reason = await guard.checkDestination(server.url, tenant, deadline - performance.now());
    if (reason !== null) errors.push({ path: `mcpServers.${index}.url`, message: reason });
  }
  if (errors.length > 0) throw new BridgeError("mcp_refused", "An MCP server of the dispatch is refused.", { errors });
}

async function checkOutput({ outputStrategy }: TaskRequest, { tenant, workspace, schemas }: Checks): Promise<void> {
  if (outputStrategy.type === "file") resolveFileInside(workspace, outputStrategy.path);
  if (outputStrategy.type !== "structured") return;
  const fault = await schemas.findSchemaFault(tenant, outputStrategy.schema);
  if (fault === null) return;
  throw new BridgeError("invalid_request", "The output schema is not a JSON Schema.", {
    errors: [{ path: "outputStrategy.schema", message: fault }],
  });
}

import { type AdapterInput, type AdapterInputs, type OutputStrategy, type Profile, toWellFormedJson } from "#contract";
import { BridgeError, type FieldError } from "../errors.ts";
import type { TaskRequest } from "../task.ts";
import { canonicalJson, findJsonFault } from "./canonical-json.ts";
import { type AskedRepository, createDispatchSchema, type DispatchBody, taskIdSchema } from "./dispatch-schema.ts";
import { toDotted, toFieldErrors } from "./field-errors.ts";
import { normalizeTools } from "./normalize-tools.ts";
import { sha256Hex } from "./sha256-hex.ts";

/** A well-formed dispatch. Admission decides whether it can run. */
export interface ParsedDispatch {
  /** Null if Bridge generates it. */
  taskId: string | null;
  provider: string | null;
  agentId: string;
  /** Without the repository. */
  request: TaskRequest;
  /** Null if the dispatch names none. */
  repository: AskedRepository | null;
  /** SHA-256 (hex) of the canonical body after aliases, without `taskId`. */
  fingerprint: string;
  /** Length of the canonical body in UTF-16 units. */
  canonicalLength: number;
}

/** The default profile, and the header that belongs to the body. */
export interface DispatchContext {
  defaultProfile: Profile;
  /** The `Idempotency-Key` header, unchanged. */
  idempotencyKey?: string | undefined;
}

/** Names that other products use for fields of a dispatch. */
const knownSynonyms = {
  agent: "agentId",
  agent_id: "agentId",
  callback: "callbackUrl",
  callback_url: "callbackUrl",
  cwd: "metadata.cwd",
  id: "taskId",
  input: "message",
  jsonSchema: "outputSchema",
  mcp_servers: "mcpServers",
  output_schema: "outputSchema",
  prompt: "message",
  repo: "repository",
  system: "systemPrompt",
  system_prompt: "systemPrompt",
  task: "message",
  task_id: "taskId",
  webhook: "callbackUrl",
  webhookUrl: "callbackUrl",
};

export type ParseDispatch = ReturnType<typeof createDispatchParser>;

/** Creates the parser of dispatch bodies. It accepts these inputs of adapters, and throws a BridgeError with the path of each fault. */
export function createDispatchParser(inputs: readonly AdapterInput[]) {
  const schema = createDispatchSchema(inputs);

  return (body: unknown, { defaultProfile, idempotencyKey }: DispatchContext): ParsedDispatch => {
    const fault = findJsonFault(body);
    if (fault !== null) throw createInvalidDispatchError([{ path: toDotted(fault.path), message: fault.message }]);
    const parsed = schema.safeParse(body);
    if (!parsed.success) throw createInvalidDispatchError(toFieldErrors(parsed.error.issues, { knownSynonyms, schema }));

    const fields = resolveAliases(parsed.data, inputs);
    const taskId = chooseTaskId(fields.taskId, idempotencyKey);
    const { taskId: _, ...fingerprinted } = fields;
    const canonical = canonicalJson(fingerprinted);
    const input = inputs.find(({ field }) => fields[field] !== undefined);
    return {
      taskId,
      provider: fields.provider ?? null,
      agentId: fields.agentId,
      request: toRequest(toWellFormedFields(fields, canonical), input?.defaultProfile ?? defaultProfile),
      repository: fields.repository ?? null,
      fingerprint: sha256Hex(canonical),
      canonicalLength: canonical.length,
    };
  };
}

type Fields = Omit<DispatchBody, "timeout" | "outputSchema"> & AdapterInputs;

/** Replaces aliases by the names of their fields. Rejects an alias whose value differs from its field. */
function resolveAliases(body: DispatchBody, inputs: readonly AdapterInput[]): Fields {
  const { timeout, outputSchema, ...rest } = body;
  const fields: Record<string, unknown> = rest;
  const errors: FieldError[] = [];
  const resolveAlias = (field: string, alias: string, value: unknown) => {
    if (value === undefined) return;
    if (fields[field] === undefined) fields[field] = value;
    else if (canonicalJson(fields[field]) !== canonicalJson(value))
      errors.push({ path: alias, message: `differs from ${field}; send one of them` });
  };
  resolveAlias("timeoutSeconds", "timeout", timeout);
  for (const { field, alias } of inputs) {
    if (alias === undefined || fields[alias] === undefined) continue;
    resolveAlias(field, alias, fields[alias]);
    delete fields[alias];
  }
  resolveAlias("outputStrategy", "outputSchema", outputSchema === undefined ? undefined : { type: "structured", schema: outputSchema });
  if (errors.length > 0) throw createInvalidDispatchError(errors);
  return fields as Fields;
}

/**
 * Replaces unpaired surrogates by U+FFFD, because strict receivers reject JSON with their escapes. The fingerprint is built from the fields
 * as they were sent.
 */
function toWellFormedFields(fields: Fields, canonical: string): Fields {
  const wellFormed = toWellFormedJson(canonical);
  return wellFormed === canonical ? fields : (JSON.parse(wellFormed) as Fields);
}

function chooseTaskId(taskId: string | undefined, header: string | undefined): string | null {
  if (header === undefined) return taskId ?? null;
  // The draft standard of the header requires a quoted string; in practice the value is not quoted.
  const key = header.replace(/^"(.*)"$/, "$1");
  const path = "Idempotency-Key";
  if (!taskIdSchema.safeParse(key).success)
    throw createInvalidDispatchError([{ path, message: "must be 1 to 128 of A-Z a-z 0-9 _ : -, like a taskId" }]);
  if (taskId !== undefined && taskId !== key)
    throw createInvalidDispatchError([{ path, message: "differs from taskId; send one of them" }]);
  return key;
}

function toRequest(fields: Fields, defaultProfile: Profile): TaskRequest {
  const {
    taskId: _taskId,
    provider: _provider,
    agentId: _agentId,
    message = "",
    tools,
    onInterrupt = "fail",
    repository: _repository,
    ...rest
  } = fields;
  const outputStrategy = fields.outputStrategy ?? { type: "stream" };
  const profile = chooseProfile(fields.profile, outputStrategy, defaultProfile);
  const approvals = fields.approvals ?? (profile === "modify" ? "allow" : "deny");
  const request = {
    ...rest,
    message,
    outputStrategy,
    profile,
    approvals,
    onInterrupt,
    ...(tools === undefined ? {} : { tools: normalizeTools(tools) }),
  };
  // The body comes from JSON, so optional fields are never present and undefined.
  return request as TaskRequest;
}

/** Returns the profile of the task. A file output needs the profile `modify`. */
function chooseProfile(requested: Profile | undefined, output: OutputStrategy, fallback: Profile): Profile {
  if (output.type !== "file") return requested ?? fallback;
  if (requested === "inspect") {
    const message = 'must be "modify" when the output is a file; send that, or another outputStrategy';
    throw new BridgeError("profile_conflict", "A task with the profile inspect cannot write a file output.", {
      errors: [{ path: "profile", message }],
    });
  }
  return "modify";
}

const createInvalidDispatchError = (errors: FieldError[]): BridgeError =>
  new BridgeError("invalid_request", "The dispatch is not valid.", { errors });

/** An agent that a runtime stores. Other fields are specific to the runtime. */
export interface AgentRecord {
  id: string;
  name?: string;
  model?: string;
  /** Changes with the record. */
  etag: string;
  [field: string]: unknown;
}

/** The fields with which an agent is created or changed; null removes a value. Other fields are specific to the runtime. */
export interface AgentFields {
  name?: string | null;
  model?: string | null;
  [field: string]: unknown;
}

/** A file of an agent; `etag` changes with the content. */
export interface AgentFile {
  name: string;
  content: string;
  etag: string;
}

/** Binds an agent to a channel or account of the runtime. */
export type AgentBinding = Record<string, unknown>;

/** All bindings of one agent, in the runtime's order. */
export interface AgentBindings {
  bindings: AgentBinding[];
  etag: string;
}

/** A skill that a runtime stores; `etag` changes with the content. */
export interface SkillRecord {
  name: string;
  content: string;
  etag: string;
}

/** A skill in a list. Other fields are specific to the runtime. */
export interface SkillEntry {
  name: string;
  [field: string]: unknown;
}

/** The description of a runtime. */
export interface RuntimeInfo {
  name: string;
  version: string | null;
  uptimeSeconds: number | null;
  limits: Record<string, unknown>;
}

/** Options of a call: the last parameter of each method. */
export interface ManagerCall {
  /**
   * Aborted at the time limit of a call, at shutdown, and for a read when its client disconnects. The manager then starts no further step
   * and rejects. A write that has already changed something completes its remaining steps.
   */
  signal?: AbortSignal;
}

// The methods of a manager reject with a ManagementError if the runtime rejects the call; any other error is a bug.
// `ifMatch` is the etag that the client has read. If the object has changed since, the write rejects with `stale_write`.

/** Describes the runtime. */
export interface RuntimeManager {
  getRuntimeInfo(call?: ManagerCall): Promise<RuntimeInfo>;
}

/** Manages the agents that a runtime stores. If the object does not exist, a deletion resolves to false and other methods to null. */
export interface AgentManager {
  listAgents(call?: ManagerCall): Promise<AgentRecord[]>;
  getAgent(agentId: string, call?: ManagerCall): Promise<AgentRecord | null>;
  /** Creates an agent that can be used at once. Rejects with `conflict` if the id exists. */
  createAgent(agentId: string, fields: AgentFields, call?: ManagerCall): Promise<AgentRecord>;
  updateAgent(agentId: string, changes: AgentFields, ifMatch?: string, call?: ManagerCall): Promise<AgentRecord | null>;
  /** Rejects with `conflict` while the agent runs a task. */
  deleteAgent(agentId: string, ifMatch?: string, call?: ManagerCall): Promise<boolean>;
  /** The etag of an entry is null if the runtime lists none. Resolves to null if the agent does not exist. */
  listAgentFiles(agentId: string, call?: ManagerCall): Promise<{ name: string; etag: string | null; bytes: number | null }[] | null>;
  readAgentFile(agentId: string, name: string, call?: ManagerCall): Promise<AgentFile | null>;
  writeAgentFile(agentId: string, name: string, content: string, ifMatch?: string, call?: ManagerCall): Promise<AgentFile>;
  deleteAgentFile(agentId: string, name: string, ifMatch?: string, call?: ManagerCall): Promise<boolean>;
  listBindings(agentId: string, call?: ManagerCall): Promise<AgentBindings | null>;
  setBindings(agentId: string, bindings: AgentBinding[], ifMatch?: string, call?: ManagerCall): Promise<AgentBindings>;
}

/** Manages the skills of a runtime. */
export interface SkillManager {
  listSkills(call?: ManagerCall): Promise<SkillEntry[]>;
  readSkill(name: string, call?: ManagerCall): Promise<SkillRecord | null>;
  writeSkill(name: string, content: string, ifMatch?: string, call?: ManagerCall): Promise<SkillRecord>;
  deleteSkill(name: string, ifMatch?: string, call?: ManagerCall): Promise<boolean>;
  installSkillDependencies(name: string, call?: ManagerCall): Promise<{ installed: string[]; detail: string | null }>;
}

/** Manages the runtime as a whole. */
export interface SystemManager {
  reloadConfig(call?: ManagerCall): Promise<{ detail: string | null }>;
  getModelCatalog(call?: ManagerCall): Promise<Record<string, unknown>[]>;
  getSecurityPosture(call?: ManagerCall): Promise<Record<string, unknown>>;
}

/** The codes of rejected calls of a manager. */
export const managementErrorCodes = ["invalid_request", "not_found", "not_supported", "conflict", "stale_write", "unavailable"] as const;
export type ManagementErrorCode = (typeof managementErrorCodes)[number];

/** A rejected call of a manager. The message is for the client: it contains no secret and no path of the host. */
export class ManagementError extends Error {
  override readonly name = "ManagementError";
  readonly code: ManagementErrorCode;

  constructor(code: ManagementErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
  }
}

const runtimeMethods = ["getRuntimeInfo"] as const;
const agentMethods = [
  "listAgents",
  "getAgent",
  "createAgent",
  "updateAgent",
  "deleteAgent",
  "listAgentFiles",
  "readAgentFile",
  "writeAgentFile",
  "deleteAgentFile",
  "listBindings",
  "setBindings",
] as const;
const skillMethods = ["listSkills", "readSkill", "writeSkill", "deleteSkill", "installSkillDependencies"] as const;
const systemMethods = ["reloadConfig", "getModelCatalog", "getSecurityPosture"] as const;

const hasMethods = (value: unknown, names: readonly string[]): boolean =>
  typeof value === "object" && value !== null && names.every((name) => typeof (value as Record<string, unknown>)[name] === "function");

/** Returns whether the adapter describes its runtime. */
export const isRuntimeManager = (value: unknown): value is RuntimeManager => hasMethods(value, runtimeMethods);
/** Returns whether the adapter manages agents. */
export const isAgentManager = (value: unknown): value is AgentManager => hasMethods(value, agentMethods);
/** Returns whether the adapter manages skills. */
export const isSkillManager = (value: unknown): value is SkillManager => hasMethods(value, skillMethods);
/** Returns whether the adapter manages its runtime as a whole. */
export const isSystemManager = (value: unknown): value is SystemManager => hasMethods(value, systemMethods);
/** Also true for an error of another copy of this module. */
export const isManagementError = (value: unknown): value is ManagementError =>
  value instanceof Error &&
  value.name === "ManagementError" &&
  managementErrorCodes.includes((value as Partial<ManagementError>).code as ManagementErrorCode);

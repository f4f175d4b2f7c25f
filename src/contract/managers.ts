/** An agent as a managing runtime stores it; what is beside these fields is the runtime's own. */
export interface AgentRecord {
  id: string;
  name?: string;
  model?: string;
  /** Changes whenever the record does. */
  etag: string;
  [field: string]: unknown;
}

/** What can be said of an agent when it is made or changed; null takes a value away. The runtime says which other fields it knows. */
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

/** A skill as a managing runtime stores it; `etag` changes with the content. */
export interface SkillRecord {
  name: string;
  content: string;
  etag: string;
}

/** A skill in a list; what is beside these fields is the runtime's own. */
export interface SkillEntry {
  name: string;
  [field: string]: unknown;
}

/** What a runtime says about itself. */
export interface RuntimeInfo {
  name: string;
  version: string | null;
  uptimeSeconds: number | null;
  limits: Record<string, unknown>;
}

/** Options of a call: the last parameter of each method. */
export interface ManagerCall {
  /**
   * Aborted for a read when its client disconnects, and for every call at its time limit and at the shutdown. The manager then starts no further step and
   * rejects. A write that has already changed something completes its remaining steps.
   */
  signal?: AbortSignal;
}

// Every method of a manager rejects with a ManagementError when the runtime cannot do what was asked; anything else is a bug.
// `ifMatch` is the etag that the writer has read: what has changed since must not be written over, but end as `stale_write`.

/** Says what the runtime itself is. */
export interface RuntimeManager {
  getRuntimeInfo(call?: ManagerCall): Promise<RuntimeInfo>;
}

/** Manages the agents of a runtime that stores them. A null, and a false from a delete, mean: there is no such thing. */
export interface AgentManager {
  listAgents(call?: ManagerCall): Promise<AgentRecord[]>;
  getAgent(agentId: string, call?: ManagerCall): Promise<AgentRecord | null>;
  /** The agent has this id afterwards, and can be used at once; one that exists is a `conflict`. */
  createAgent(agentId: string, fields: AgentFields, call?: ManagerCall): Promise<AgentRecord>;
  updateAgent(agentId: string, changes: AgentFields, ifMatch?: string, call?: ManagerCall): Promise<AgentRecord | null>;
  /** An agent that works on something is a `conflict`. */
  deleteAgent(agentId: string, ifMatch?: string, call?: ManagerCall): Promise<boolean>;
  /** The etag is null where the runtime tells none in a list. Null: no such agent. */
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

/** Every way in which a manager refuses. */
export const managementErrorCodes = ["invalid_request", "not_found", "not_supported", "conflict", "stale_write", "unavailable"] as const;
export type ManagementErrorCode = (typeof managementErrorCodes)[number];

/** A manager's refusal, in words for whoever called; it carries no secret and no path of the machine. */
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

/** Does the adapter describe its runtime? */
export const isRuntimeManager = (value: unknown): value is RuntimeManager => hasMethods(value, runtimeMethods);
/** Does the adapter manage agents? */
export const isAgentManager = (value: unknown): value is AgentManager => hasMethods(value, agentMethods);
/** Does the adapter manage skills? */
export const isSkillManager = (value: unknown): value is SkillManager => hasMethods(value, skillMethods);
/** Does the adapter manage its runtime as a whole? */
export const isSystemManager = (value: unknown): value is SystemManager => hasMethods(value, systemMethods);
/** An error of another copy of this module counts, too. */
export const isManagementError = (value: unknown): value is ManagementError =>
  value instanceof Error &&
  value.name === "ManagementError" &&
  managementErrorCodes.includes((value as Partial<ManagementError>).code as ManagementErrorCode);

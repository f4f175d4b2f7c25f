/** An agent as a managing runtime stores it. */
export interface AgentRecord {
  id: string;
  name?: string;
  model?: string;
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

/** A skill as a managing runtime stores it; `etag` changes with the content. */
export interface SkillRecord {
  name: string;
  content: string;
  etag: string;
}

/** Says what the runtime itself is. */
export interface RuntimeManager {
  /** Name, version, uptime in seconds and limits of the runtime. */
  getRuntimeInfo(): Promise<{ name: string; version: string | null; uptimeSeconds: number | null; limits: Record<string, unknown> }>;
}

/** Manages the agents of a runtime that stores them. */
export interface AgentManager {
  listAgents(): Promise<AgentRecord[]>;
  getAgent(agentId: string): Promise<AgentRecord | null>;
  createAgent(agent: AgentRecord): Promise<AgentRecord>;
  updateAgent(agentId: string, changes: Partial<AgentRecord>): Promise<AgentRecord>;
  deleteAgent(agentId: string): Promise<boolean>;
  listAgentFiles(agentId: string): Promise<Omit<AgentFile, "content">[]>;
  readAgentFile(agentId: string, name: string): Promise<AgentFile | null>;
  /** `ifMatch` is the etag the writer has read; a stale one must not write. */
  writeAgentFile(agentId: string, name: string, content: string, ifMatch?: string): Promise<AgentFile>;
  deleteAgentFile(agentId: string, name: string, ifMatch?: string): Promise<boolean>;
  listBindings(agentId: string): Promise<AgentBinding[]>;
  setBindings(agentId: string, bindings: AgentBinding[]): Promise<AgentBinding[]>;
}

/** Manages the skills of a runtime. */
export interface SkillManager {
  listSkills(): Promise<Omit<SkillRecord, "content">[]>;
  readSkill(name: string): Promise<SkillRecord | null>;
  writeSkill(name: string, content: string, ifMatch?: string): Promise<SkillRecord>;
  deleteSkill(name: string, ifMatch?: string): Promise<boolean>;
  installSkillDependencies(name: string): Promise<{ installed: string[]; detail: string | null }>;
}

/** Manages the runtime as a whole. */
export interface SystemManager {
  reloadConfig(): Promise<void>;
  getModelCatalog(): Promise<Record<string, unknown>[]>;
  getSecurityPosture(): Promise<Record<string, unknown>>;
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

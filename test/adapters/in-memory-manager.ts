import { createHash } from "node:crypto";
import {
  type AgentBindings,
  type AgentManager,
  type AgentRecord,
  ManagementError,
  type ManagerCall,
  type RuntimeManager,
  type SkillManager,
  type SystemManager,
} from "#contract";

/** Everything that an adapter can manage. */
export type InMemoryManager = RuntimeManager & AgentManager & SkillManager & SystemManager;

export interface InMemoryManagerOptions {
  /** Awaited before each call, with its name: to wait, or to fail. */
  before?(method: keyof InMemoryManager): Promise<void> | void;
}

interface StoredAgent {
  fields: Record<string, unknown>;
  files: Map<string, string>;
  bindings: Record<string, unknown>[];
}

/** The four managers of a runtime that stores everything in maps. A write is atomic with its comparison. */
export function createInMemoryManager({ before = () => {} }: InMemoryManagerOptions = {}): InMemoryManager {
  const agents = new Map<string, StoredAgent>();
  const skills = new Map<string, string>();

  const recordOf = (id: string, { fields }: StoredAgent): AgentRecord => ({ id, ...fields, etag: tagOf({ id, fields }) });
  const bindingsOf = ({ bindings }: StoredAgent): AgentBindings => ({ bindings, etag: tagOf(bindings) });
  const known = (id: string): StoredAgent => {
    const agent = agents.get(id);
    if (agent === undefined) throw new ManagementError("not_found", "There is no such agent.");
    return agent;
  };

  const managers: InMemoryManager = {
    getRuntimeInfo: async () => ({ name: "memory", version: "1.2.3", uptimeSeconds: 4, limits: { agents: 100 } }),

    listAgents: async () => [...agents].map(([id, agent]) => recordOf(id, agent)),
    async getAgent(id) {
      const agent = agents.get(id);
      return agent === undefined ? null : recordOf(id, agent);
    },
    async createAgent(id, fields) {
      if (agents.has(id)) throw new ManagementError("conflict", `There is an agent ${id} already.`);
      const agent: StoredAgent = { fields: withChanges({}, fields), files: new Map(), bindings: [] };
      agents.set(id, agent);
      return recordOf(id, agent);
    },
    async updateAgent(id, changes, ifMatch) {
      const agent = agents.get(id);
      if (agent === undefined) return null;
      compare(ifMatch, recordOf(id, agent).etag);
      agent.fields = withChanges(agent.fields, changes);
      return recordOf(id, agent);
    },
    async deleteAgent(id, ifMatch) {
      const agent = agents.get(id);
      if (agent === undefined) return false;
      compare(ifMatch, recordOf(id, agent).etag);
      if (agent.fields["busy"] === true) throw new ManagementError("conflict", `The agent ${id} is at work.`);
      return agents.delete(id);
    },

    async listAgentFiles(id) {
      const files = agents.get(id)?.files;
      return files === undefined ? null : [...files].map(([name, content]) => ({ name, etag: null, bytes: Buffer.byteLength(content) }));
    },
    async readAgentFile(id, name) {
      const content = agents.get(id)?.files.get(name);
      return content === undefined ? null : { name, content, etag: tagOf(content) };
    },
    async writeAgentFile(id, name, content, ifMatch) {
      const { files } = known(id);
      compare(ifMatch, tagOf(files.get(name)));
      files.set(name, content);
      return { name, content, etag: tagOf(content) };
    },
    async deleteAgentFile(id, name, ifMatch) {
      const files = agents.get(id)?.files;
      if (files?.has(name) !== true) return false;
      compare(ifMatch, tagOf(files.get(name)));
      return files.delete(name);
    },
    async listBindings(id) {
      const agent = agents.get(id);
      return agent === undefined ? null : bindingsOf(agent);
    },
    async setBindings(id, bindings, ifMatch) {
      const agent = known(id);
      compare(ifMatch, bindingsOf(agent).etag);
      agent.bindings = bindings;
      return bindingsOf(agent);
    },

    listSkills: async () => [...skills.keys()].map((name) => ({ name, enabled: true })),
    async readSkill(name) {
      const content = skills.get(name);
      return content === undefined ? null : { name, content, etag: tagOf(content) };
    },
    async writeSkill(name, content, ifMatch) {
      compare(ifMatch, tagOf(skills.get(name)));
      skills.set(name, content);
      return { name, content, etag: tagOf(content) };
    },
    async deleteSkill(name, ifMatch) {
      if (!skills.has(name)) return false;
      compare(ifMatch, tagOf(skills.get(name)));
      return skills.delete(name);
    },
    async installSkillDependencies(name) {
      if (!skills.has(name)) throw new ManagementError("not_found", "There is no such skill.");
      return { installed: ["jq"], detail: null };
    },

    reloadConfig: async () => ({ detail: "Nothing had changed." }),
    getModelCatalog: async () => ["large", "small", "tiny"].map((id) => ({ id })),
    getSecurityPosture: async () => ({ critical: 0, findings: [] }),
  };
  return awaitBefore(managers, before);
}

/** An ETag of the content. A missing item has an ETag too, which no client can have read. */
const tagOf = (value: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(value) ?? "")
    .digest("hex")
    .slice(0, 16);

function compare(ifMatch: string | undefined, etag: string): void {
  if (ifMatch !== undefined && ifMatch !== etag)
    throw new ManagementError("stale_write", "It has changed since it was read; read it again.");
}

function withChanges(fields: Record<string, unknown>, changes: Record<string, unknown>): Record<string, unknown> {
  const foreign = Object.keys(changes).find((name) => !["name", "model", "busy"].includes(name));
  if (foreign !== undefined) throw new ManagementError("invalid_request", `This runtime knows no field ${foreign}.`);
  return Object.fromEntries(Object.entries({ ...fields, ...changes }).filter(([, value]) => value !== null));
}

const signalOf = (given: readonly unknown[]): AbortSignal | undefined => (given.at(-1) as ManagerCall | undefined)?.signal;

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));

function awaitBefore<Methods extends object>(methods: Methods, before: (name: keyof Methods) => Promise<void> | void): Methods {
  const wrapped = Object.entries(methods).map(([name, method]) => [
    name,
    async (...given: unknown[]) => {
      const signal = signalOf(given);
      signal?.throwIfAborted();
      // A write that has started is completed.
      const ends = signal !== undefined && /^(get|list|read)/.test(name) ? [aborted(signal)] : [];
      await Promise.race([before(name as keyof Methods), ...ends]);
      return await (method as (...values: unknown[]) => unknown)(...given);
    },
  ]);
  return Object.fromEntries(wrapped) as Methods;
}

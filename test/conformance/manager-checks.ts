import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import {
  type AgentManager,
  isAgentManager,
  isManagementError,
  isRuntimeManager,
  isSkillManager,
  isSystemManager,
  type ManagementErrorCode,
  type ManagerCall,
  type RuntimeManager,
  type SkillManager,
  type SystemManager,
} from "#contract";
import type { AdapterBench } from "./adapter-bench.ts";

/** Every method of every manager. */
const methods = {
  RuntimeManager: { getRuntimeInfo: true } satisfies Record<keyof RuntimeManager, true>,
  AgentManager: {
    listAgents: true,
    getAgent: true,
    createAgent: true,
    updateAgent: true,
    deleteAgent: true,
    listAgentFiles: true,
    readAgentFile: true,
    writeAgentFile: true,
    deleteAgentFile: true,
    listBindings: true,
    setBindings: true,
  } satisfies Record<keyof AgentManager, true>,
  SkillManager: {
    listSkills: true,
    readSkill: true,
    writeSkill: true,
    deleteSkill: true,
    installSkillDependencies: true,
  } satisfies Record<keyof SkillManager, true>,
  SystemManager: { reloadConfig: true, getModelCatalog: true, getSecurityPosture: true } satisfies Record<keyof SystemManager, true>,
};
const guards = [isRuntimeManager, isAgentManager, isSkillManager, isSystemManager] as const;

/** Whether the adapter manages agents, skills or the runtime. */
export const isManager = (adapter: unknown): boolean => guards.some((guard) => guard(adapter));

/**
 * Checks the managers of an adapter without changing anything: each manager has all of its methods or none, listed items can be
 * read, missing items are neither found nor changed, and a call whose signal is aborted rejects and changes nothing.
 */
export async function checkManagers({ adapter, within }: AdapterBench): Promise<void> {
  expect(isManager(adapter)).toBe(true);
  for (const [manager, names] of Object.entries(methods)) {
    const found = Object.keys(names).filter((name) => typeof Reflect.get(adapter, name) === "function");
    expect([[], Object.keys(names)], `${manager}: all of its methods, or none`).toContainEqual(found);
  }
  if (isRuntimeManager(adapter)) await checkRuntime(adapter, within);
  if (isAgentManager(adapter)) await checkAgents(adapter, within);
  if (isSkillManager(adapter)) await checkSkills(adapter, within);
  if (isSystemManager(adapter)) {
    expect(await answered(within, "getModelCatalog()", adapter.getModelCatalog(), [])).toBeInstanceOf(Array);
    expect(await answered(within, "getSecurityPosture()", adapter.getSecurityPosture(), {})).toBeTypeOf("object");
    await rejects(within, "getModelCatalog()", adapter.getModelCatalog(aborted));
  }
}

type Within = AdapterBench["within"];
const aborted: ManagerCall = { signal: AbortSignal.abort(new Error("The caller has disconnected.")) };
/** A name that does not exist. */
const nowhere = `conformance-${randomUUID()}`;
const tag = expect.stringMatching(/./);

async function checkRuntime(adapter: RuntimeManager, within: Within): Promise<void> {
  const info = await within("getRuntimeInfo()", adapter.getRuntimeInfo());
  expect(info).toMatchObject({ name: expect.stringMatching(/./), limits: expect.any(Object) });
  expect([null, expect.any(String)]).toContainEqual(info.version);
  expect([null, expect.any(Number)]).toContainEqual(info.uptimeSeconds);
  await rejects(within, "getRuntimeInfo()", adapter.getRuntimeInfo(aborted));
}

async function checkAgents(adapter: AgentManager, within: Within): Promise<void> {
  const agents = await answered(within, "listAgents()", adapter.listAgents(), []);
  for (const agent of agents) expect(agent).toMatchObject({ id: tag, etag: tag });
  const [first] = agents;
  if (first !== undefined) {
    expect(await answered(within, "getAgent()", adapter.getAgent(first.id), first)).toMatchObject({ id: first.id, etag: first.etag });
    const [file] = (await answered(within, "listAgentFiles()", adapter.listAgentFiles(first.id), [])) ?? [];
    if (file !== undefined)
      expect(await within("readAgentFile()", adapter.readAgentFile(first.id, file.name))).toMatchObject({
        name: file.name,
        content: expect.any(String),
        etag: file.etag ?? tag,
      });
  }

  const missing: Record<string, () => Promise<unknown>> = {
    "getAgent()": () => adapter.getAgent(nowhere),
    "updateAgent()": () => adapter.updateAgent(nowhere, { name: "x" }),
    "listAgentFiles()": () => adapter.listAgentFiles(nowhere),
    "readAgentFile()": () => adapter.readAgentFile(nowhere, "AGENTS.md"),
    "listBindings()": () => adapter.listBindings(nowhere),
  };
  for (const [what, ask] of Object.entries(missing)) expect(await answered(within, what, ask(), null), what).toBeNull();
  expect(await answered(within, "deleteAgent()", adapter.deleteAgent(nowhere), false)).toBe(false);
  expect(await answered(within, "deleteAgentFile()", adapter.deleteAgentFile(nowhere, "AGENTS.md"), false)).toBe(false);
  await refused(within, "writeAgentFile()", adapter.writeAgentFile(nowhere, "AGENTS.md", "x"), "not_found");
  await refused(within, "setBindings()", adapter.setBindings(nowhere, []), "not_found");

  await rejects(within, "listAgents()", adapter.listAgents(aborted));
  await rejects(within, "createAgent()", adapter.createAgent(nowhere, {}, aborted));
  expect(await answered(within, "getAgent()", adapter.getAgent(nowhere), null), "an agent made by a call that was aborted").toBeNull();
}

async function checkSkills(adapter: SkillManager, within: Within): Promise<void> {
  const skills = await answered(within, "listSkills()", adapter.listSkills(), []);
  for (const skill of skills) expect(skill).toMatchObject({ name: tag });
  const [first] = skills;
  if (first !== undefined) {
    const otherwise = { name: first.name, content: "", etag: "-" };
    const read = await answered(within, "readSkill()", adapter.readSkill(first.name), otherwise);
    expect(read, "readSkill()").toMatchObject({ name: first.name, content: expect.any(String), etag: tag });
  }
  expect(await answered(within, "readSkill()", adapter.readSkill(nowhere), null)).toBeNull();
  expect(await answered(within, "deleteSkill()", adapter.deleteSkill(nowhere), false)).toBe(false);
  await refused(within, "installSkillDependencies()", adapter.installSkillDependencies(nowhere), "not_found");
  // A conditional write refers to an item that was read before, and this item does not exist.
  const content = `---\nname: ${nowhere}\ndescription: Never written.\n---\n`;
  await refused(within, "writeSkill()", adapter.writeSkill(nowhere, content, "a-tag-of-nothing"), "stale_write");

  await rejects(within, "listSkills()", adapter.listSkills(aborted));
  await rejects(within, "writeSkill()", adapter.writeSkill(nowhere, content, undefined, aborted));
  expect(await answered(within, "readSkill()", adapter.readSkill(nowhere), null), "a skill written by a call that was aborted").toBeNull();
}

/** The result of the call, or `otherwise` if the runtime reports that it does not support it. */
async function answered<T>(within: Within, what: string, answer: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await within(what, answer);
  } catch (error) {
    if (isManagementError(error) && error.code === "not_supported") return otherwise;
    throw error;
  }
}

async function rejects(within: Within, what: string, answer: Promise<unknown>): Promise<void> {
  const outcome = await within(what, answer).then(
    () => "resolved",
    () => "rejected",
  );
  expect(outcome, `${what} with a signal that is aborted`).toBe("rejected");
}

async function refused(within: Within, what: string, answer: Promise<unknown>, code: ManagementErrorCode): Promise<void> {
  const error = await within(what, answer).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(isManagementError(error) ? error.code : error, what).toBeOneOf([code, "not_supported"]);
}

import { createTurns } from "@hak2i/async-kit";
import {
  type AgentManager,
  ManagementError,
  type ManagerCall,
  type RuntimeManager,
  type SkillManager,
  type SystemManager,
} from "#contract";
import { deleteAgentFile, listAgentFiles, readAgentFile, writeAgentFile } from "./agent-files.ts";
import { getAgent, listAgents } from "./agent-records.ts";
import { createAgent, deleteAgent, updateAgent } from "./agents.ts";
import { listBindings, setBindings } from "./bindings.ts";
import type { ManageContext } from "./manage-context.ts";
import { convertGatewayErrors } from "./management-errors.ts";
import { getRuntimeInfo } from "./runtime-info.ts";
import { createSecurityAudit } from "./security-audit.ts";
import { installSkillDependencies } from "./skill-dependencies.ts";
import { deleteSkill, listSkills, readSkill, writeSkill } from "./skills.ts";
import { getModelCatalog, reloadConfig } from "./system.ts";

/** All management operations of a gateway. */
export type Managers = RuntimeManager & AgentManager & SkillManager & SystemManager;

type Act<A extends unknown[], T> = (context: ManageContext, ...args: A) => Promise<T>;
type Method<A extends unknown[], T> = (...args: [...A, call?: ManagerCall | undefined]) => Promise<T>;

/** Creates the managers of a gateway; `currentContext` returns null while the adapter is not initialized. */
export function createManagers(currentContext: () => ManageContext | null): Managers {
  const turns = createTurns();

  const createRead =
    <A extends unknown[], T>(act: Act<A, T>): Method<A, T> =>
    (...args) => {
      // `act` has one more parameter than the method, the context, so the call options follow at this index.
      const call = args[act.length - 1] as ManagerCall | undefined;
      const parameters = args.slice(0, act.length - 1) as A;
      return convertGatewayErrors(async () => {
        const context = currentContext();
        if (context === null) throw new ManagementError("unavailable", "The adapter openclaw is not running.");
        call?.signal?.throwIfAborted();
        return await act({ ...context, ...(call?.signal !== undefined && { signal: call.signal }) }, ...parameters);
      }, call?.signal);
    };
  const createWrite = <A extends unknown[], T>(act: Act<A, T>, turn: "change" | "install" = "change"): Method<A, T> => {
    const method = createRead(act);
    return (...args) => turns.take(turn, () => method(...args));
  };

  return {
    getRuntimeInfo: createRead(getRuntimeInfo),
    listAgents: createRead(listAgents),
    getAgent: createRead(getAgent),
    createAgent: createWrite(createAgent),
    updateAgent: createWrite(updateAgent),
    deleteAgent: createWrite(deleteAgent),
    listAgentFiles: createRead(listAgentFiles),
    readAgentFile: createRead(readAgentFile),
    writeAgentFile: createWrite(writeAgentFile),
    deleteAgentFile: createWrite(deleteAgentFile),
    listBindings: createRead(listBindings),
    setBindings: createWrite(setBindings),
    listSkills: createRead(listSkills),
    readSkill: createRead(readSkill),
    writeSkill: createWrite(writeSkill),
    deleteSkill: createWrite(deleteSkill),
    // An installation takes minutes and changes nothing that other writes change, so it does not delay them.
    installSkillDependencies: createWrite(installSkillDependencies, "install"),
    reloadConfig: createWrite(reloadConfig),
    getModelCatalog: createRead(getModelCatalog),
    getSecurityPosture: createRead(createSecurityAudit()),
  };
}

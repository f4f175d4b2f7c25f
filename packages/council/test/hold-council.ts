import {
  type CouncilInput,
  createSpending,
  type Intensity,
  type Member,
  type RoleRequest,
  readInput,
  runDeepCouncil,
  runModels,
  type SkippedRuntime,
} from "bridge-council";
import { createRolePlayer, type Line, lineOf, type Script } from "./role-player.ts";

export const expert = "Application Security Engineer";

export function inputOf(changes: object = {}): CouncilInput {
  const given = { scope: "12 files", task_description: "Review it.", task_type: "review", domains: ["security"], ...changes };
  const read = readInput(given, "council-1", { needsDomains: false, maxProviders: 10 });
  if ("faults" in read) throw new Error(JSON.stringify(read.faults));
  return read.input;
}

/** The options of `holdCouncil`. */
interface Council {
  /** The bridges, and the models of each. A bridge without models runs once. */
  bridges: Readonly<Record<string, readonly string[]>>;
  /** Answers of the roles of a bridge. */
  bridge(request: RoleRequest): Line;
  /** Answers of the roles of the debate over all findings. */
  debate: Script;
  changes?: object;
  /** Intensity of the bridges; default: that of the council. */
  intensity?: Intensity;
  skippedRuntimes?: SkippedRuntime[];
  /** The model with which a bridge takes part in the debate over all findings. */
  models?: Readonly<Record<string, string>>;
  /** Whether the runtimes can resume sessions; default: false. */
  resumesSessions?: boolean;
}

/** Runs a council over several bridges with the real merging code; only the runtimes are scripted. */
export async function holdCouncil({
  bridges,
  bridge,
  debate,
  changes = {},
  intensity,
  skippedRuntimes = [],
  models = {},
  resumesSessions = false,
}: Council) {
  // The debate starts when all bridges have ended. Prompts that repeat a question in a session do not contain the introduction of the role.
  let isDebate = false;
  const player = createRolePlayer((request) => {
    isDebate ||= request.message.includes("council of several agents");
    return isDebate ? lineOf(debate, request) : bridge(request);
  });
  const events: Record<string, unknown>[] = [];
  const progress: Record<string, unknown>[] = [];
  const input = inputOf(changes);
  const common = {
    execute: player.execute,
    secondsLeft: () => 3_600,
    spending: createSpending(500),
    log: (event: Record<string, unknown>) => void events.push(event),
    onProgress: (data: Record<string, unknown>) => void progress.push(data),
  };
  const report = await runDeepCouncil({
    ...common,
    input,
    members: Object.keys(bridges).map(
      (name): Member => ({ bridge: name, provider: name, resumesSessions, ...(models[name] && { model: models[name] }) }),
    ),
    skippedRuntimes,
    now: () => new Date("2026-11-21T10:00:00Z"),
    runMember: ({ bridge: name, provider }, own) =>
      runModels(
        {
          ...common,
          bridge: name,
          provider,
          input: { ...own, intensity: intensity ?? own.intensity },
          profile: "inspect",
          resumesSessions,
          timeoutMultiplier: 1,
        },
        bridges[name] ?? [],
      ),
  });
  return { report, player, events, progress, input };
}

/** Runs a quick council whose bridges return scripted findings and whose debate follows a script. */
export const hold = (
  findings: Readonly<Record<string, Line>>,
  debate: Script = {},
  changes: object = {},
  models: Readonly<Record<string, string>> = {},
) =>
  holdCouncil({
    bridges: Object.fromEntries(Object.keys(findings).map((name) => [name, []])),
    bridge({ provider, role }) {
      const line = findings[provider] ?? { outputs: [] };
      // A failing runtime fails for every role.
      return role === expert || (typeof line === "object" && "result" in line) ? line : { outputs: [] };
    },
    debate,
    changes,
    intensity: "quick",
    models,
  });

/** A runtime that answers with an error. */
export const failing = (errorCode: string, error: string): Line => ({ result: { status: "error", errorCode, error, output: undefined } });

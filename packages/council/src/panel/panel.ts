import { createDebate, type Debate } from "../debate/debate.ts";
import { findExpert } from "../domains/find-expert.ts";
import { estimateTimeoutSeconds, measureScope } from "../estimate-timeout.ts";
import { prefixOf } from "../ids.ts";
import { challengerRole, integrationRole, type Role } from "../prompts/prompts.ts";
import type { Intensity } from "../types.ts";
import { createRoles, createSeat, type Roles, type Seat } from "./ask-roles.ts";
import type { PanelOptions } from "./panel-options.ts";

/** The state of a role for which this package has the prompts. */
export interface PanelSeat extends Seat {
  role: Role;
}

/** The state of a panel: its roles and their debate. */
export interface Panel {
  readonly options: PanelOptions;
  readonly debate: Debate;
  /** The expert of each domain. */
  readonly experts: Map<string, PanelSeat>;
  readonly challenger: PanelSeat;
  readonly integration: PanelSeat;
  readonly roles: Roles;
  /** Time limit of one answer, in seconds. */
  readonly callSeconds: number;
  /** Maximum number of debate rounds after the first round. */
  readonly maxDebateRounds: number;
  /** Number of debate rounds in which a role answered. */
  debateRounds: number;
}

/** Maximum number of debate rounds after the first round. */
export const MAX_DEBATE_ROUNDS: Readonly<Record<Intensity, number>> = { quick: 0, standard: 1, thorough: 3 };

/** Creates a panel with an expert for each domain of the input. */
export function createPanel(options: PanelOptions): Panel {
  const { bridge, input, provider, model, resumesSessions } = options;
  const callSeconds = estimateTimeoutSeconds(measureScope(input.scope), input.intensity, options.timeoutMultiplier);
  const runtime = { provider, resumesSessions, ...(model === undefined ? {} : { model }) };
  return {
    options,
    debate: createDebate(input.domains, options.idPrefix ?? prefixOf(bridge)),
    experts: new Map(input.domains.map((domain) => [domain, createSeat(findExpert(domain, input.registry))])),
    challenger: createSeat(challengerRole),
    integration: createSeat(integrationRole),
    roles: createRoles({ ...options, runtimeOf: () => runtime }, callSeconds),
    callSeconds,
    maxDebateRounds: MAX_DEBATE_ROUNDS[input.intensity],
    debateRounds: 0,
  };
}

/** Returns all roles. */
export const seatsOf = ({ experts, challenger, integration }: Panel): PanelSeat[] => [...experts.values(), challenger, integration];

/** Returns whether a role answered, in one round or in any. */
export const hasAnswers = ({ roles }: Panel, inRound?: number): boolean =>
  roles.records.some(({ answered, round }) => answered && (inRound ?? round) === round);

/** Returns whether the council was canceled. */
export const isCanceled = ({ roles }: Panel): boolean => roles.failures.some(({ errorCode }) => errorCode === "cancelled");

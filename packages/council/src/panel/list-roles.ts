import type { Domain } from "../domains/domain.ts";
import { findExpert } from "../domains/find-expert.ts";
import { challengerRole, integrationRole, type Role } from "../prompts/prompts.ts";

/** Lists the roles with which a panel on these domains begins. */
export const listRoles = (domains: readonly string[], registry: readonly Domain[]): Pick<Role, "title" | "domain">[] => [
  ...domains.map((name) => findExpert(name, registry)),
  ...[challengerRole, integrationRole],
];

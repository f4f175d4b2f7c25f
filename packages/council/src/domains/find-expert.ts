import { createUnknownDomain, toTitleCase } from "./custom-domains.ts";
import type { Domain } from "./domain.ts";
import { countMentions } from "./find-mentions.ts";

/** The expert of a domain in one session. */
export interface Expert {
  domain: string;
  title: string;
  focusAreas: readonly string[];
  standards: readonly string[];
  /** Instructions of the role, with a placeholder for the scope; null if there are none, as for a virtual expert. */
  template: string | null;
  /** Origin: a known domain, a known domain with another focus, or created for this session. */
  tier: "exact" | "adapted" | "virtual";
  /** Known domains that it is based on; empty for none. */
  from: readonly string[];
}

/** Returns the expert of a domain, never one of an unrelated field. */
export function findExpert(name: string, registry: readonly Domain[]): Expert {
  const exact = registry.find((entry) => entry.name === name) ?? registry.find(({ trigger_signals }) => trigger_signals.includes(name));
  if (exact !== undefined) return createExpert(name, exact, "exact");
  const words = name.split(/[\s_/+.-]+/).filter((word) => word.length > 2);
  const related = registry.filter((entry) => words.some((word) => matchesWord(entry, word)));
  const [first, ...others] = related;
  // If one known domain covers the name, its expert gets this focus. If several cover a part each, a new expert combines them.
  if (first !== undefined && others.length === 0) return adaptExpert(name, first);
  const unknown = createUnknownDomain(name);
  return {
    domain: name,
    title: unknown.expert_role.title,
    focusAreas: related.length > 0 ? related.flatMap(({ focus_areas }) => focus_areas.slice(0, 2)) : unknown.focus_areas,
    standards: related.length > 0 ? related.flatMap(({ standards }) => standards.slice(0, 1)) : unknown.standards,
    template: null,
    tier: "virtual",
    from: related.map((entry) => entry.name),
  };
}

/** Returns at most `limit` domains that a text mentions, those with the most signals first. */
export function domainsOf(text: string, limit: number, registry: readonly Domain[]): string[] {
  const counts = countMentions(text, registry);
  return registry
    .map(({ name }, index) => ({ name, hits: counts[index] ?? 0 }))
    .filter(({ hits }) => hits > 0)
    .sort((left, right) => right.hits - left.hits)
    .slice(0, limit)
    .map(({ name }) => name);
}

const matchesWord = ({ name, trigger_signals }: Domain, word: string): boolean =>
  name.split("-").includes(word) || trigger_signals.some((signal) => signal === word || (signal.length > 4 && word.startsWith(signal)));

const createExpert = (domain: string, { name, expert_role, focus_areas, standards }: Domain, tier: Expert["tier"]): Expert => ({
  domain,
  title: expert_role.title,
  focusAreas: focus_areas,
  standards,
  template: `${expert_role.lens} ${expert_role.prompt_template}`.trim() || null,
  tier,
  from: [name],
});

function adaptExpert(domain: string, base: Domain): Expert {
  const expert = createExpert(domain, base, "adapted");
  return { ...expert, title: `${expert.title} (${toTitleCase(domain)})`, focusAreas: [domain, ...expert.focusAreas] };
}

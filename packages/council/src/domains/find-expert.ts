import type { Domain } from "./domain.ts";
import { domains } from "./index.ts";

/** The expert of a domain in one session. */
export interface Expert {
  domain: string;
  title: string;
  focusAreas: readonly string[];
  standards: readonly string[];
  /** Instructions of the role, with a placeholder for the scope; null for a virtual expert. */
  template: string | null;
  /** Origin: a known domain, a known domain with another focus, or created for this session. */
  tier: "exact" | "adapted" | "virtual";
  /** Known domains that it is based on; empty for none. */
  from: readonly string[];
}

/** Returns the expert of a domain, never one of an unrelated field. */
export function findExpert(name: string): Expert {
  const exact = domains.find((entry) => entry.name === name) ?? domains.find(({ trigger_signals }) => trigger_signals.includes(name));
  if (exact !== undefined) return createExpert(name, exact, "exact");
  const words = name.split(/[\s_/+.-]+/).filter((word) => word.length > 2);
  const related = domains.filter((entry) => words.some((word) => matchesWord(entry, word)));
  const [first, ...others] = related;
  // If one known domain covers the name, its expert gets this focus. If several cover a part each, a new expert combines them.
  if (first !== undefined && others.length === 0) return adaptExpert(name, first);
  return {
    domain: name,
    title: `${toTitleCase(name)} Specialist`,
    focusAreas:
      related.length > 0
        ? related.flatMap(({ focus_areas }) => focus_areas.slice(0, 2))
        : [name, `risks of ${name}`, `good practice in ${name}`],
    standards: related.length > 0 ? related.flatMap(({ standards }) => standards.slice(0, 1)) : [`recognised practice in ${name}`],
    template: null,
    tier: "virtual",
    from: related.map((entry) => entry.name),
  };
}

/** Returns at most `limit` domains that a text mentions, those with the most signals first. */
export function domainsOf(text: string, limit: number): string[] {
  const lower = text.toLowerCase();
  return domains
    .map(({ name, trigger_signals }) => ({ name, hits: trigger_signals.filter((signal) => mentions(lower, signal)).length }))
    .filter(({ hits }) => hits > 0)
    .sort((left, right) => right.hits - left.hits)
    .slice(0, limit)
    .map(({ name }) => name);
}

/** Longest signal that must be a whole word, because many other words begin with it: "auth" with "author", "dom" with "domain". */
const WHOLE_WORD_CHARACTERS = 4;

/** A signal matches the start of a word or phrase: "scalab" matches "scalability". A short one matches only a word and its plural. */
function mentions(lowerText: string, signal: string): boolean {
  const end = signal.length <= WHOLE_WORD_CHARACTERS ? "s?(?![\\p{L}\\p{N}])" : "";
  return new RegExp(`(?<![\\p{L}\\p{N}])${signal.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}${end}`, "u").test(lowerText);
}

const matchesWord = ({ name, trigger_signals }: Domain, word: string): boolean =>
  name.split("-").includes(word) || trigger_signals.some((signal) => signal === word || (signal.length > 4 && word.startsWith(signal)));

const createExpert = (domain: string, { name, expert_role, focus_areas, standards }: Domain, tier: Expert["tier"]): Expert => ({
  domain,
  title: expert_role.title,
  focusAreas: focus_areas,
  standards,
  template: `${expert_role.lens} ${expert_role.prompt_template}`,
  tier,
  from: [name],
});

function adaptExpert(domain: string, base: Domain): Expert {
  const expert = createExpert(domain, base, "adapted");
  return { ...expert, title: `${expert.title} (${toTitleCase(domain)})`, focusAreas: [domain, ...expert.focusAreas] };
}

const toTitleCase = (name: string): string =>
  name.replaceAll(/(^|[\s_/+.-]+)([a-z0-9])/g, (_, gap: string, letter: string) => (gap === "" ? "" : " ") + letter.toUpperCase());

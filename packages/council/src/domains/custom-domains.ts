import { z } from "zod";
import type { Domain } from "./domain.ts";
import { domainName } from "./domain-name.ts";

/** Maximum number of domains that one dispatch or one workspace defines. */
const MAX_CUSTOM_DOMAINS = 50;
/** Maximum lengths of the texts of a domain, in characters. They appear in every first prompt of the expert. */
const MAX_TITLE = 100;
const MAX_POINT = 200;
const MAX_INSTRUCTIONS = 4_000;
const MAX_SIGNAL = 40;
/** Maximum entries of the lists of a domain. */
const MAX_POINTS = 20;
const MAX_SIGNALS = 100;
/** Maximum length of a value that a fault quotes. */
const QUOTED_CHARACTERS = 80;

/** One line, because the texts are parts of lines of a prompt. */
const line = (limit: number) => {
  const fault = describeFault(`must be one line of 1 to ${limit} characters`);
  return z
    .string(fault)
    .trim()
    .regex(new RegExp(`^[^\\p{Cc}\\p{Zl}\\p{Zp}]{1,${limit}}$`, "u"), fault);
};

const list = <T extends z.ZodType>(entry: T, what: string, least: number, most: number) => {
  const fault = describeFault(`must be a list of ${least} to ${most} ${what}`);
  return z.array(entry, fault).min(least, fault).max(most, fault);
};

const INSTRUCTIONS_FAULT = describeFault(`must be a text of 1 to ${MAX_INSTRUCTIONS} characters`);

const domainSchema = z
  .strictObject(
    {
      name: domainName,
      expert: line(MAX_TITLE).optional(),
      focus: list(line(MAX_POINT), "texts", 1, MAX_POINTS).optional(),
      standards: list(line(MAX_POINT), "texts", 1, MAX_POINTS).optional(),
      instructions: z.string(INSTRUCTIONS_FAULT).trim().min(1, INSTRUCTIONS_FAULT).max(MAX_INSTRUCTIONS, INSTRUCTIONS_FAULT).optional(),
      signals: list(line(MAX_SIGNAL).toLowerCase(), "words or phrases", 0, MAX_SIGNALS).optional(),
    },
    describeFault("must be an object with a name"),
  )
  .refine(({ name: _, ...fields }) => Object.keys(fields).length > 0, {
    message: "defines only a name; add expert, focus, standards, instructions or signals",
    when: ({ issues }) => issues.length === 0,
  });

const listSchema = z
  .array(z.unknown(), describeFault(`must be a list of at most ${MAX_CUSTOM_DOMAINS} domains`))
  .max(MAX_CUSTOM_DOMAINS, describeFault(`must be a list of at most ${MAX_CUSTOM_DOMAINS} domains`));

/** A domain that a dispatch or a workspace defines. Absent fields keep the values of the domain that it overrides. */
export type CustomDomain = z.output<typeof domainSchema>;

/** Parses the domains of a dispatch or a workspace. Returns the valid ones, and the faults of the others with their paths. */
export function readCustomDomains(json: unknown): { customDomains: CustomDomain[]; issues: z.core.$ZodIssue[] } {
  const parsed = listSchema.safeParse(json);
  if (!parsed.success) return { customDomains: [], issues: parsed.error.issues };
  const customDomains = new Map<string, CustomDomain>();
  const issues: z.core.$ZodIssue[] = [];
  for (const [index, entry] of parsed.data.entries()) {
    const domain = domainSchema.safeParse(entry);
    if (!domain.success) issues.push(...domain.error.issues.map((issue) => ({ ...issue, path: [index, ...issue.path] })));
    else if (!customDomains.has(domain.data.name)) customDomains.set(domain.data.name, domain.data);
    else {
      const message = `defines ${quote(domain.data.name)} a second time; define each domain once`;
      issues.push({ code: "custom", path: [index, "name"], message, input: entry });
    }
  }
  return { customDomains: [...customDomains.values()], issues };
}

/** Applies definitions to a registry. New domains come first, so that they are chosen before others that a text mentions equally often. */
export function overrideDomains(registry: readonly Domain[], customDomains: readonly CustomDomain[]): readonly Domain[] {
  if (customDomains.length === 0) return registry;
  const custom = new Map(customDomains.map((domain) => [domain.name, domain]));
  const known = new Set(registry.map(({ name }) => name));
  return [
    ...customDomains.filter(({ name }) => !known.has(name)).map((domain) => applyFields(createUnknownDomain(domain.name), domain)),
    ...registry.map((domain) => applyFields(domain, custom.get(domain.name))),
  ];
}

/** Creates a domain for a name that the registry does not contain. */
export const createUnknownDomain = (name: string): Domain => ({
  name,
  trigger_signals: [],
  expert_role: { title: `${toTitleCase(name)} Specialist`, lens: "", prompt_template: "" },
  focus_areas: [name, `risks of ${name}`, `good practice in ${name}`],
  standards: [`recognised practice in ${name}`],
});

/** Converts the name of a domain to a title. */
export const toTitleCase = (name: string): string =>
  name.replaceAll(/(^|[\s_/+.-]+)([a-z0-9])/g, (_, gap: string, letter: string) => (gap === "" ? "" : " ") + letter.toUpperCase());

function applyFields(domain: Domain, custom: CustomDomain | undefined): Domain {
  if (custom === undefined) return domain;
  const { expert = domain.expert_role.title, instructions, signals, focus, standards } = custom;
  const { lens, prompt_template } = domain.expert_role;
  return {
    name: domain.name,
    trigger_signals: signals ?? domain.trigger_signals,
    expert_role: {
      title: expert,
      ...(instructions === undefined ? { lens, prompt_template } : { lens: "", prompt_template: instructions }),
    },
    focus_areas: focus ?? domain.focus_areas,
    standards: standards ?? domain.standards,
  };
}

/** Creates an error message that quotes the value, unless the field is missing. */
function describeFault(must: string) {
  return { error: ({ input }: { input?: unknown }) => (input === undefined ? must : `${must}; got ${quote(input)}`) };
}

function quote(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > QUOTED_CHARACTERS ? `${text.slice(0, QUOTED_CHARACTERS)}…` : text;
}

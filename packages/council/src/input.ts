import { z } from "zod";
import { type CustomDomain, overrideDomains, readCustomDomains } from "./domains/custom-domains.ts";
import type { Domain } from "./domains/domain.ts";
import { domainName } from "./domains/domain-name.ts";
import { domains as builtInDomains } from "./domains/index.ts";
import { intensities, taskTypes } from "./types.ts";

/** Maximum number of experts. */
export const MAX_DOMAINS = 26;

const TEXT_FAULT = "must be a text of 1 to 200000 characters";
const SUMMARY_FAULT = "must be a text of at most 200000 characters";
const DOMAINS_FAULT = `must be an array of at most ${MAX_DOMAINS} domains`;
const PROVIDER_FAULT = "must be the name of an adapter: 1 to 64 letters, digits or - _ . : @";
const PROVIDERS_FAULT = "must be an array of 1 to 10 names of adapters";
const SESSION_FAULT = "must be 1 to 128 letters, digits, - or _";
const describeChoice = (words: readonly string[]): string => `must be one of ${words.join(", ")}`;

const text = z.string(TEXT_FAULT).trim().min(1, TEXT_FAULT).max(200_000, TEXT_FAULT);

/** Restricted, because a provider also becomes part of a file name. */
const provider = z
  .string(PROVIDER_FAULT)
  .trim()
  .regex(/^[A-Za-z0-9][A-Za-z0-9@:_.-]{0,63}$/, PROVIDER_FAULT);

/** Restricted, because it becomes part of a file name. */
const sessionId = z.string(SESSION_FAULT).regex(/^[A-Za-z0-9_-]{1,128}$/, SESSION_FAULT);

const schema = z.strictObject(
  {
    session_id: sessionId.optional(),
    review_id: sessionId.optional(),
    scope: text.optional(),
    review_scope: text.optional(),
    task_description: text,
    task_type: z.enum(taskTypes, describeChoice(taskTypes)),
    domains: z.array(domainName, DOMAINS_FAULT).max(MAX_DOMAINS, DOMAINS_FAULT).default([]),
    custom_domains: z
      .unknown()
      .optional()
      .transform((json, context) => {
        const { customDomains, issues } = readCustomDomains(json === undefined ? [] : json);
        context.issues.push(...issues.map((issue) => ({ ...issue, input: json }) as z.core.$ZodRawIssue));
        return customDomains;
      }),
    context_summary: z.string(SUMMARY_FAULT).trim().max(200_000, SUMMARY_FAULT).default(""),
    intensity: z.enum(intensities, describeChoice(intensities)).default("standard"),
    provider: provider.optional(),
    providers: z.array(provider, PROVIDERS_FAULT).min(1, PROVIDERS_FAULT).max(10, PROVIDERS_FAULT).optional(),
  },
  "must be an object with at least task_description, task_type and scope",
);

/** Input of a council. */
export interface CouncilInput {
  /** Unique per session; part of file names. */
  sessionId: string;
  scope: string;
  taskDescription: string;
  taskType: z.infer<typeof schema>["task_type"];
  /** Lower case, without duplicates, in the given order. */
  domains: string[];
  /** The domains that the input defines. */
  customDomains: readonly CustomDomain[];
  /** The built-in domains, with the definitions of the input applied. The caller replaces it to add those of a workspace. */
  registry: readonly Domain[];
  contextSummary: string;
  intensity: z.infer<typeof schema>["intensity"];
  /** Providers of the council; null: the council chooses. */
  providers: string[] | null;
}

/** An invalid field of the input and how to correct it. */
export interface InputFault {
  path: string;
  message: string;
}

/** Parses the input, including deprecated field names. `fallbackId` is the session id if the input has none. */
export function readInput(
  json: unknown,
  fallbackId: string,
  { needsDomains, maxProviders }: { needsDomains: boolean; maxProviders: number },
): { input: CouncilInput } | { faults: InputFault[] } {
  const parsed = schema.safeParse(json);
  if (!parsed.success) {
    return {
      faults: parsed.error.issues.flatMap(({ path, message, ...issue }) => {
        const keys = "keys" in issue && Array.isArray(issue.keys) ? issue.keys.map(String) : [];
        if (keys.length > 0) return keys.map((key) => ({ path: [...path, key].join("."), message: "is not a field of this input" }));
        return [{ path: path.join("."), message }];
      }),
    };
  }
  const { session_id, review_id, scope, review_scope, ...rest } = parsed.data;
  const faults: InputFault[] = [];
  const choose = (name: string, value: string | undefined, alias: string, aliased: string | undefined): string | undefined => {
    if (value !== undefined && aliased !== undefined && value !== aliased)
      faults.push({ path: alias, message: `is the old name of ${name}, but has a different value; set only one of them` });
    return value ?? aliased;
  };
  const chosenId = choose("session_id", session_id, "review_id", review_id) ?? fallbackId.replaceAll(/[^A-Za-z0-9_-]/g, "-").slice(0, 128);
  const chosenScope = choose("scope", scope, "review_scope", review_scope);
  if (chosenScope === undefined) faults.push({ path: "scope", message: "is required: the files, topics or description to work on" });
  if (needsDomains && rest.domains.length === 0) faults.push({ path: "domains", message: "must name at least one domain" });
  const { provider, providers = provider === undefined ? null : [provider] } = rest;
  if (provider !== undefined && rest.providers !== undefined)
    faults.push({ path: "provider", message: "must not be combined with providers; set only one of them" });
  if ((providers?.length ?? 0) > maxProviders)
    faults.push({
      path: "providers",
      message: `must have at most ${maxProviders} ${maxProviders === 1 ? "entry" : "entries"} for this council`,
    });
  if (faults.length > 0 || chosenScope === undefined) return { faults };
  return {
    input: {
      sessionId: chosenId,
      scope: chosenScope,
      taskDescription: rest.task_description,
      taskType: rest.task_type,
      domains: [...new Set(rest.domains)],
      customDomains: rest.custom_domains,
      registry: overrideDomains(builtInDomains, rest.custom_domains),
      contextSummary: rest.context_summary,
      intensity: rest.intensity,
      providers: providers === null ? null : [...new Set(providers)],
    },
  };
}

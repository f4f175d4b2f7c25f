import type { Adapter, Domain } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { type FormState, formField, type Option } from "./form-field.ts";

const TASK_TYPES = ["review", "analysis", "audit", "planning", "implementation", "research"];
const PROFILES: readonly Option[] = [{ value: "inspect" }, { value: "modify" }];
const INTENSITIES: readonly Option[] = [
  { value: "quick", name: "quick: no debate" },
  { value: "standard", name: "standard: one round of debate" },
  { value: "thorough", name: "thorough: up to three rounds" },
];
/** The council of several runtimes. */
const DEEP_COUNCIL = "deep-council";

/** Returns whether an adapter runs councils. */
export const isCouncil = (adapter: Adapter | undefined): boolean => inputsOf(adapter).includes("bridgeInput");

/** Returns the fields that an adapter needs in a dispatch in addition to the common ones. */
export const inputsOf = (adapter: Adapter | undefined): readonly string[] =>
  (adapter?.capabilities as { inputs?: string[] } | undefined)?.inputs ?? [];

/** What the fields of a council depend on. */
interface CouncilForm {
  provider: string;
  adapters: readonly Adapter[];
  domains: readonly Domain[];
  /** Returns the value that applies to an empty field; empty if it is not known. */
  usualOf: (name: "profile" | "timeoutSeconds") => string;
  /** Returns why a field should change; empty if it need not. */
  hintOf: (name: string) => string;
}

/** The fields of the input of a council. */
export function councilFields(form: FormState, { provider, adapters, domains, usualOf, hintOf }: CouncilForm): TemplateResult {
  const runtimes = adapters.filter((adapter) => inputsOf(adapter).length === 0).map((adapter): Option => ({ value: adapter.provider }));
  const choices = domains.map(({ name, expert }): Option => ({ value: name, title: expert }));
  const isDeep = provider === DEEP_COUNCIL;
  return html`
    ${formField({ name: "council.task_description", type: "area", hint: "What the council should do." }, form)}
    ${formField({ name: "council.scope", type: "area", hint: "Files, topics or a description to work on." }, form)}
    ${formField({ name: "council.task_type", type: TASK_TYPES.map((value) => ({ value })), none: "choose one" }, form)}
    ${formField({ name: "council.intensity", type: INTENSITIES }, form)}
    ${isDeep ? nothing : formField({ name: "council.provider", type: runtimes }, form)}
    ${formField({ name: "profile", type: PROFILES, usual: usualOf("profile"), hint: "An implementation needs modify." }, form)}
    ${formField({ name: "timeoutSeconds", type: "number", usual: usualOf("timeoutSeconds"), hint: hintOf("timeoutSeconds") }, form)}
    ${isDeep ? formField({ name: "council.providers", type: "list", choices: runtimes, hint: "None: those of the settings." }, form) : nothing}
    ${formField({ name: "council.domains", type: "list", choices, hint: isDeep ? "None: the council chooses from the text." : "At least one. Each has an expert." }, form)}
  `;
}

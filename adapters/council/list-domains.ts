import { domains, overrideDomains } from "bridge-council";
import { readSettingsFile } from "./read-settings-file.ts";

/** A domain for which councils have an expert, with the fields of `custom_domains`. */
interface ListedDomain {
  name: string;
  expert: string;
  focus: string[];
  standards: string[];
  /** Null if the expert has no instructions beyond the focus and the standards. */
  instructions: string | null;
  signals: string[];
  source: "built-in" | "workspace";
}

/** Lists the domains of councils, including those that a workspace defines. `fault` describes the faults of its settings file. */
export async function listDomains(workspace: string | null): Promise<{ domains: ListedDomain[]; fault: string | null }> {
  const { customDomains, fault } = workspace === null ? { customDomains: [], fault: null } : await readSettingsFile(workspace);
  const custom = new Set(customDomains.map(({ name }) => name));
  return {
    domains: overrideDomains(domains, customDomains).map(({ name, trigger_signals, expert_role, focus_areas, standards }) => ({
      name,
      expert: expert_role.title,
      focus: [...focus_areas],
      standards: [...standards],
      instructions: `${expert_role.lens} ${expert_role.prompt_template}`.trim() || null,
      signals: [...trigger_signals],
      source: custom.has(name) ? "workspace" : "built-in",
    })),
    fault,
  };
}

import { type CouncilInput, chooseDomains, domains, listRoles, overrideDomains, readSettings } from "bridge-council";
import type { AdapterConfig, RolePlan } from "#contract";
import type { CouncilKind } from "./council-kind.ts";
import { findSkipReason } from "./panel-council.ts";
import { readSettingsFile } from "./read-settings-file.ts";

/** What the plan of a council depends on. */
export interface PlanParameters {
  input: CouncilInput;
  /** The model of the dispatch. */
  model: string | undefined;
  /** Null if the workspace is on another node, so that its settings are unknown. */
  workspace: string | null;
  config: AdapterConfig;
}

/** Plans the roles of a council and their runtimes. Asks no runtime whether it has the models of the settings, because that can be slow. */
export async function planRoles({ providers }: CouncilKind, { input, model, workspace, config }: PlanParameters): Promise<RolePlan> {
  const settings = workspace === null ? readSettings(null) : await readSettingsFile(workspace);
  const registry = overrideDomains(overrideDomains(domains, settings.customDomains), input.customDomains);
  return {
    roles: listRoles(chooseDomains({ ...input, registry }), registry).map(({ title, domain }) => ({ title, domain })),
    runtimes: (input.providers ?? providers).map((provider) => {
      const described = config.describeProvider(provider);
      // Only GET /api/v2/adapters reports the reason, because it may contain paths.
      const offline = described?.health === "offline" ? "offline: GET /api/v2/adapters reports the reason" : null;
      return {
        provider,
        models: model === undefined ? settings.of(provider).models : [model],
        fault: findSkipReason(provider, { settings, config }) ?? offline,
      };
    }),
  };
}

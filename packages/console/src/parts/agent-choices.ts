import { html, nothing, type TemplateResult } from "lit";
import type { FormState } from "./form-field.ts";

/** Agents that have a button. The field suggests the others. */
const MAX_SHOWN = 12;

/** The agents that exist, to choose one for the form. */
export function agentChoices(agents: readonly string[], form: FormState): TemplateResult | typeof nothing {
  if (agents.length === 0) return nothing;
  const chosen = form.valueOf("agentId").trim();
  const more = agents.length - MAX_SHOWN;
  // The Tab key skips them, because the field itself suggests the same names.
  return html`<div class="agent-choices" role="group" aria-labelledby="existing-agents">
    <span class="hint" id="existing-agents">Existing:</span>
    ${agents
      .slice(0, MAX_SHOWN)
      .map(
        (agent) =>
          html`<button type="button" tabindex="-1" aria-pressed=${agent === chosen} @click=${() => form.onEdit("agentId", agent)}>${agent}</button>`,
      )}
    ${more > 0 ? html`<span class="hint">${more} more: type the name</span>` : nothing}
  </div>`;
}

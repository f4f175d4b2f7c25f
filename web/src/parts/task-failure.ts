import { explainTaskError, type Task, type TaskErrorRemedy } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { firstLine, formatDuration, showHidden } from "../format.ts";
import { linkTo } from "../router.ts";
import { codeSpans } from "./code-spans.ts";

/** The longest time limit that Bridge accepts. */
const MAX_TIMEOUT_S = 86_400;

/** What the buttons below a failure do. */
export interface FailureActions {
  /** Whether the token can dispatch tasks. */
  mayDispatch: boolean;
  /** The time limit of the request in seconds; null if it has none. */
  timeoutSeconds: number | null;
  /** Dispatches the request again, with these fields changed. */
  runAgain(changes: Record<string, unknown>): void;
}

/** Shows why a task failed, what to do, and buttons that do it; nothing if it did not fail. */
export function taskFailure(
  { state, errorCode, result, taskId, provider }: Task,
  actions: FailureActions,
): TemplateResult | typeof nothing {
  if (state !== "failed" && state !== "cancelled") return nothing;
  const code = errorCode ?? result?.errorCode ?? state;
  const known = explainTaskError(code);
  return html`<section class="failure ${state}" aria-label="Why the task failed">
    <p><strong>${code}</strong> ${showHidden(firstLine(result?.error ?? known?.cause ?? "", 500))}</p>
    ${
      known === null
        ? nothing
        : html`<p class="advice">${result?.error === undefined ? nothing : html`${codeSpans(known.cause)} `}${codeSpans(known.advice)}</p>
            <div class="actions">${known.remedies.map((remedy) => renderRemedy(remedy, { taskId, provider }, actions))}</div>`
    }
  </section>`;
}

function renderRemedy(
  remedy: TaskErrorRemedy,
  { taskId, provider }: Pick<Task, "taskId" | "provider">,
  { mayDispatch, timeoutSeconds, runAgain }: FailureActions,
): TemplateResult | typeof nothing {
  switch (remedy) {
    case "open_adapter":
      return html`<a class="button" href=${linkTo(`adapters#${encodeURIComponent(provider)}`)}>Open the adapter ${provider}</a>`;
    case "change_request":
      return mayDispatch
        ? html`<a class="button" href=${linkTo(`new?from=${encodeURIComponent(taskId)}`)}>Run again with changes</a>`
        : nothing;
    case "run_again":
      return mayDispatch ? html`<button @click=${() => runAgain({})}>Run again</button>` : nothing;
    case "run_longer": {
      if (!mayDispatch || timeoutSeconds === null || timeoutSeconds >= MAX_TIMEOUT_S) return nothing;
      const longer = Math.min(MAX_TIMEOUT_S, 2 * timeoutSeconds);
      return html`<button @click=${() => runAgain({ timeoutSeconds: longer })}>Run again with ${formatDuration(longer * 1000)}</button>`;
    }
  }
}

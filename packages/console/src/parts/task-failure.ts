import { explainTaskError, type Task, type TaskErrorRemedy } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { formatDuration, showHidden } from "../format.ts";
import { linkTo } from "../router.ts";
import { codeSpans } from "./code-spans.ts";
import { longText } from "./long-text.ts";

/** The longest error that is shown as a sentence. */
const MAX_LINE = 400;

/** Codes whose error Bridge writes. It contains the general cause of the code. */
const WRITTEN_BY_BRIDGE = ["timeout", "idle_timeout", "cancelled", "bridge_restarted", "bridge_shutdown"];

/** What the buttons below a failure do. */
export interface FailureActions {
  /** Whether the token can dispatch tasks. */
  mayDispatch: boolean;
  /** A longer time limit in seconds; null if there is none. */
  longerLimit: number | null;
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
  const isExplained = result?.error === undefined || WRITTEN_BY_BRIDGE.includes(code);
  return html`<section class="failure ${state}" aria-label="Why the task failed">
    ${renderError(code, result?.error ?? known?.cause ?? "")}
    ${
      known === null
        ? nothing
        : html`<p class="advice">${isExplained ? nothing : html`${codeSpans(known.cause)} `}${codeSpans(known.advice)}</p>
            <div class="actions">${known.remedies.map((remedy) => renderRemedy(remedy, { taskId, provider }, actions))}</div>`
    }
  </section>`;
}

/** A long error, such as the end of a program's output, keeps its lines. */
const renderError = (code: string, error: string): TemplateResult =>
  error.length > MAX_LINE || error.includes("\n")
    ? html`<p><strong>${code}</strong></p>${longText(error)}`
    : html`<p><strong>${code}</strong> ${showHidden(error)}</p>`;

function renderRemedy(
  remedy: TaskErrorRemedy,
  { taskId, provider }: Pick<Task, "taskId" | "provider">,
  { mayDispatch, longerLimit, runAgain }: FailureActions,
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
      if (!mayDispatch || longerLimit === null) return nothing;
      return html`<button @click=${() => runAgain({ timeoutSeconds: longerLimit })}>Run again with ${formatDuration(longerLimit * 1000)}</button>`;
    }
  }
}

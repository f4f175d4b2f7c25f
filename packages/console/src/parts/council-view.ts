import { html, nothing, type TemplateResult } from "lit";
import type { Council, Finding, Turn } from "../council.ts";
import { showHidden } from "../format.ts";
import { taskLink } from "../router.ts";
import type { ConsoleContext } from "../session.ts";
import { findActivity, hasEnded } from "../task-state.ts";
import "./answer.ts";
import { activityBadge, badge } from "./badges.ts";
import { longText } from "./long-text.ts";
import { markdownText } from "./markdown-text.ts";

type Signs = Readonly<Record<string, readonly [kind: string, sign: string]>>;

const verdictSigns: Signs = {
  PASS: ["completed", "✓"],
  CONCERNS: ["approval", "!"],
  FAIL: ["failed", "✕"],
};

const statusSigns: Signs = {
  SKIPPED: ["failed", "✕"],
  HALTED: ["approval", "!"],
  ABORTED: ["failed", "✕"],
};

/** Any word is possible, because a program can write the report, including `constructor`, which every object inherits. */
const signOf = (signs: Signs, word: string): readonly [kind: string, sign: string] =>
  (Object.hasOwn(signs, word) ? signs[word] : undefined) ?? ["", ""];

/** Shows a council: its verdict, which role answered in which round, and its findings. */
export function councilView(
  { verdict, status, isPartial, skipped, findings, rounds, roles }: Council,
  context: ConsoleContext,
  now: number,
): TemplateResult {
  const [kind, sign] = signOf(verdictSigns, verdict ?? "");
  const [statusKind, statusSign] = signOf(statusSigns, status ?? "");
  return html`<section aria-labelledby="council">
    <h2 id="council" class="verdict">Council ${verdict === null ? nothing : badge(kind, sign, verdict)}
      ${status === null || status === "COMPLETED" ? nothing : badge(statusKind, statusSign, status)}</h2>
    ${isPartial ? html`<p class="note warning">Not every requested runtime completed, so the coverage is partial.</p>` : nothing}
    ${skipped.map(({ bridge, reason }) => html`<p class="note info"><strong>${bridge}</strong> did not take part: ${showHidden(reason)}</p>`)}
    ${
      roles.length === 0
        ? nothing
        : html`<div class="scroll council-roles" tabindex="0" role="region" aria-label="Roles and rounds">
            <table class="council">
              <thead>
                <tr><th scope="col">Role</th>${rounds.map((round) => html`<th scope="col">Round ${round}</th>`)}</tr>
              </thead>
              <tbody>
                ${roles.map(
                  ({ name, turns }) => html`<tr>
                    <th scope="row">${showHidden(name)}</th>
                    ${rounds.map((round) => html`<td>${renderTurn(turns.get(round), now)}</td>`)}
                  </tr>`,
                )}
              </tbody>
            </table>
          </div>`
    }
    ${findings.length === 0 ? nothing : html`<h3>Findings <span class="hint">${findings.length}</span></h3><ul class="rows findings">${findings.map(renderFinding)}</ul>`}
    ${renderAnswers(roles, context)}
  </section>`;
}

/** The answers of the roles, each of which is loaded when it is opened. */
function renderAnswers(roles: Council["roles"], context: ConsoleContext): TemplateResult | typeof nothing {
  const asked = roles.flatMap(({ name, turns }) =>
    [...turns].flatMap(([round, { task }]) => (task === undefined || !hasEnded(task) ? [] : [{ name, round, taskId: task.taskId }])),
  );
  if (asked.length === 0) return nothing;
  return html`<details>
    <summary>Answers of the roles <span class="hint">${asked.length}</span></summary>
    <ul class="rows findings">
      ${asked.map(
        ({ name, round, taskId }) =>
          html`<li><bridge-answer .taskId=${taskId} .heading=${`${name}, round ${round}`} .context=${context}></bridge-answer></li>`,
      )}
    </ul>
  </details>`;
}

function renderTurn(turn: Turn | undefined, now: number): TemplateResult | typeof nothing {
  if (turn === undefined) return nothing;
  const { task, answers } = turn;
  const state = answers.length > 0 ? answerBadge(answers) : task === undefined ? nothing : activityBadge(findActivity(task, now));
  const reasons = answers.filter(({ answered }) => !answered).map(({ reason }) => reason);
  return html`${task === undefined ? state : html`<a href=${taskLink(task.taskId)}>${state}</a>`}
    ${reasons.map((reason) => html`<p class="detail">${showHidden(reason)}</p>`)}`;
}

function answerBadge(answers: Turn["answers"]): TemplateResult {
  const count = answers.filter(({ answered }) => answered).length;
  if (count === answers.length) return badge("completed", "✓", "answered");
  return count === 0 ? badge("failed", "✕", "no answer") : badge("approval", "!", `${count} of ${answers.length} answered`);
}

function renderFinding({ severity, status, title, description, evidence, action, raisedBy, note }: Finding): TemplateResult {
  return html`<li>
    <details>
      <summary>
        ${severity === null ? nothing : badge(severity === "CRITICAL" || severity === "HIGH" ? "failed" : "approval", "▲", severity)}
        ${status === "" ? nothing : badge("", "", status)} <span class="title">${showHidden(title)}</span> <span class="detail">${showHidden(raisedBy)}</span>
      </summary>
      ${note === "" ? nothing : html`<p class="detail">${showHidden(note)}</p>`} ${markdownText(description, { level: 4 })}
      ${evidence === null ? nothing : html`<h4>Evidence</h4>${longText(evidence)}`} ${action === null ? nothing : html`<h4>Action</h4>${markdownText(action, { level: 5 })}`}
    </details>
  </li>`;
}

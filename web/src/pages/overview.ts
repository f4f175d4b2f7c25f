import type { ListedTask, Stats } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { PageElement } from "../element.ts";
import { firstLine, formatUpTo, formatValue, showHidden } from "../format.ts";
import { poll } from "../live/poll.ts";
import { serverNow } from "../live/server-clock.ts";
import { describeAttempts } from "../parts/attempts.ts";
import { activityBadge, age, errorNote, healthBadge } from "../parts/badges.ts";
import { linkTo, taskLink } from "../router.ts";
import { explainEnd, findActivity } from "../task-state.ts";
import { formatCostSum, sumSince } from "../usage.ts";

const RECENT_TASKS = 10;
const MAX_COUNTED = 200;
const USAGE_INTERVAL_MS = 15_000;

/** Shows what runs, what waits, and what needs a person. */
class Overview extends PageElement {
  #recent = poll(this, async (signal) => {
    const page = await this.context.api.list<ListedTask>("/api/v2/tasks", { root: "*", limit: RECENT_TASKS }, { signal });
    return page.data;
  });
  #hours = poll(this, (signal) => this.context.api.call<Stats>("/api/v2/stats?window=24h&by=hour", { signal }), {
    intervalMs: () => USAGE_INTERVAL_MS,
  });
  /** The open tasks of the tenant; the load of the adapters includes those of other tenants. */
  #open = poll(this, async (signal) => {
    const count = async (state: "running" | "queued"): Promise<string> => {
      const { data, meta } = await this.context.api.list<ListedTask>("/api/v2/tasks", { state, limit: MAX_COUNTED }, { signal });
      return formatUpTo(data.length, meta.nextCursor !== null);
    };
    const [running, queued] = await Promise.all([count("running"), count("queued")]);
    return { running, queued };
  });
  #unsubscribe: (() => void)[] = [];

  override connectedCallback(): void {
    super.connectedCallback();
    const { attention, feed } = this.context;
    this.#unsubscribe = [attention.subscribe(() => this.requestUpdate()), feed.subscribe(() => this.#recent.refresh())];
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  protected override render(): TemplateResult {
    const { approvals, hasMoreApprovals, deadCallbacks, hasMoreDead, webhooks, adapters, error, isLoaded } = this.context.attention.state;
    const offline = adapters.filter(({ health }) => health.status === "offline");
    const today = this.#hours.value === undefined ? null : sumSince(this.#hours.value, new Date(serverNow()).setHours(0, 0, 0, 0));
    const waiting = approvals.length + deadCallbacks.length + webhooks.length + offline.length;
    return html`
      <h1>Overview</h1>
      ${errorNote(error)}
      <ul class="figures">
        ${figure("Running", this.#open.value?.running ?? "", "tasks?state=running")}
        ${figure("Queued", this.#open.value?.queued ?? "", "tasks?state=queued")}
        ${figure("Waiting for approval", isLoaded ? formatUpTo(approvals.length, hasMoreApprovals) : "", "approvals", approvals.length > 0)}
        ${figure("Dead callbacks", isLoaded ? formatUpTo(deadCallbacks.length, hasMoreDead) : "", "callbacks", deadCallbacks.length > 0)}
        ${figure("Ended today", today?.tasks ?? "", "usage")} ${figure("Cost today", today === null ? "" : formatCostSum(today), "usage")}
      </ul>
      <section aria-labelledby="needs-you">
        <h2 id="needs-you">Needs you</h2>
        ${waiting === 0 && isLoaded ? html`<p class="empty">Nothing waits for a person.</p>` : nothing}
        <ul class="rows">
          ${approvals.slice(0, RECENT_TASKS).map(
            (approval) => html`<li>
              ${activityBadge("approval")}
              <a href=${linkTo("approvals")}>${approval.agentId} wants to call <code>${showHidden(approval.toolName)}</code></a>
              <span class="detail">${showHidden(firstLine(formatValue(approval.input), 100))}</span>
              ${age(approval.createdAt, serverNow())}
            </li>`,
          )}
          ${deadCallbacks.slice(0, RECENT_TASKS).map(
            (callback) => html`<li>
              <span class="badge failed"><span aria-hidden="true">✕</span> dead callback</span>
              <a href=${linkTo("callbacks")}>${showHidden(callback.url)}</a> <span class="detail">${describeAttempts(callback, serverNow())}</span>
            </li>`,
          )}
          ${webhooks.map(
            ({ name, origin, dead }) => html`<li>
              <span class="badge failed"><span aria-hidden="true">✕</span> ${dead} dead ${dead === 1 ? "delivery" : "deliveries"}</span>
              <a href=${linkTo(`webhooks?name=${encodeURIComponent(name)}`)}>${name}</a> <span class="detail">${origin}</span>
            </li>`,
          )}
          ${offline.map(
            ({ provider, health }) => html`<li>
              ${healthBadge("offline")} <a href=${linkTo("adapters")}>${provider}</a> <span class="detail">${showHidden(health.detail ?? "")}</span>
            </li>`,
          )}
        </ul>
      </section>
      <section aria-labelledby="recent">
        <h2 id="recent">Latest tasks</h2>
        ${this.#renderRecent()}
      </section>
    `;
  }

  #renderRecent(): TemplateResult {
    const { value, error } = this.#recent;
    if (value === undefined) return html`${errorNote(error)}`;
    if (value.length === 0) return renderFirstSteps();
    const now = serverNow();
    return html`${errorNote(error)}
      <ul class="rows">
        ${value.map(
          (task) => html`<li>
            ${activityBadge(findActivity(task, now))} <a href=${taskLink(task.taskId)}>${showHidden(task.title ?? task.taskId)}</a>
            <span class="detail">${task.title === null ? nothing : html`${task.taskId} · `}${task.agentId} · ${task.provider}${explainEnd(task)}</span> ${age(task.createdAt, now)}
          </li>`,
        )}
      </ul>
      <p><a href=${linkTo("tasks")}>All tasks</a></p>`;
  }
}

function figure(label: string, value: number | string, target: string, isUrgent = false): TemplateResult {
  return html`<li class=${isUrgent ? "urgent" : ""}>
    <a href=${linkTo(target)}><span class="value">${value}</span> <span class="label">${label}</span></a>
  </li>`;
}

const renderFirstSteps = (): TemplateResult => html`
  <p class="empty">No tasks yet. <a href=${linkTo("new")}>Dispatch one here</a>, or from a terminal:</p>
  <pre tabindex="0"><code>AUTH="Authorization: Bearer $(cat data/token)"
mkdir -p data/workspaces/default/auditor &amp;&amp; cp README.md data/workspaces/default/auditor/
curl ${linkTo("../api/v2/dispatch")} -H "$AUTH" -H "Content-Type: application/json" \\
  -d '{"agentId":"auditor","message":"Count BRIDGE in *.md"}'</code></pre>
`;

customElements.define("bridge-overview", Overview);

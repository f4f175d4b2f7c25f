import type { ListedTask, Stats } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { PageElement } from "../element.ts";
import { formatFullTime, formatRunTime, formatUpTo, localZone, showHidden } from "../format.ts";
import { poll } from "../live/poll.ts";
import { serverNow } from "../live/server-clock.ts";
import { activityBadge, age, ago, errorNote } from "../parts/badges.ts";
import "../parts/needs-you.ts";
import { firstSteps } from "../parts/first-steps.ts";
import { openRow } from "../parts/open-row.ts";
import { moveFocus } from "../parts/row-keys.ts";
import { linkTo, taskLink } from "../router.ts";
import { explainEnd, findActivity, hasEnded } from "../task-state.ts";
import { failedToday, toTaskQuery } from "../task-views.ts";
import { formatCostSum } from "../usage.ts";

const RECENT_TASKS = 10;
const MAX_RUNNING = 20;
/** The views of the figures. */
const RUNNING = "state=running";
const QUEUED = "state=queued";
const MAX_COUNTED = 200;
const USAGE_INTERVAL_MS = 15_000;

/** Shows what needs a person, what runs, and what has ended. */
class Overview extends PageElement {
  #recent = poll(this, async (signal) => {
    const page = await this.context.api.list<ListedTask>("/api/v2/tasks", { root: "*", limit: RECENT_TASKS + MAX_RUNNING }, { signal });
    return page.data;
  });
  /** What has ended since midnight, in the time zone of the browser. */
  #today = poll(
    this,
    async (signal) => {
      const from = new Date(new Date(serverNow()).setHours(0, 0, 0, 0)).toISOString();
      return (await this.context.api.call<Stats>(`/api/v2/stats?${new URLSearchParams({ from, limit: "1" })}`, { signal })).total;
    },
    { intervalMs: () => USAGE_INTERVAL_MS },
  );
  #running = poll(this, async (signal) => {
    const page = await this.context.api.list<ListedTask>("/api/v2/tasks", { state: "running", root: "*", limit: MAX_RUNNING }, { signal });
    return page.data;
  });
  /** How many tasks the views of the figures list; the load of the adapters includes the tasks of other tenants. */
  #counts = poll(this, async (signal) => {
    const count = async (view: string): Promise<string> => {
      const query = { ...toTaskQuery(new URLSearchParams(view), serverNow()), limit: MAX_COUNTED };
      const { data, meta } = await this.context.api.list<ListedTask>("/api/v2/tasks", query, { signal });
      return formatUpTo(data.length, meta.nextCursor !== null);
    };
    const [running, queued, failed] = await Promise.all([RUNNING, QUEUED, failedToday].map(count));
    return { running, queued, failed };
  });
  #ticker: ReturnType<typeof setInterval> | undefined;
  #unsubscribe: (() => void)[] = [];

  override onKey(key: string): boolean {
    return moveFocus([...this.querySelectorAll<HTMLElement>(".board .what > a")], key);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    const { attention, feed } = this.context;
    this.#ticker = setInterval(() => this.requestUpdate(), 1000);
    this.#unsubscribe = [
      attention.subscribe(() => this.requestUpdate()),
      feed.subscribe(() => {
        for (const list of [this.#recent, this.#running, this.#counts]) list.refresh();
      }),
    ];
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.#ticker);
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  protected override render(): TemplateResult {
    const { error } = this.context.attention.state;
    const today = this.#today.value;
    const { running = "", queued = "", failed = "" } = this.#counts.value ?? {};
    return html`
      <div class="page-head"><h1>Overview</h1><span class="hint">Times in ${localZone}</span></div>
      ${errorNote(error)}
      <ul class="figures">
        ${figure("Running", running, `tasks?${RUNNING}`)} ${figure("Queued", queued, `tasks?${QUEUED}`)}
        ${figure("Failed today", failed, `tasks?${failedToday}`, { isUrgent: failed !== "" && failed !== "0" })}
        ${figure("Ended today", today?.tasks ?? "", "usage?window=today")}
        ${figure("Cost today", today === undefined ? "" : formatCostSum(today), "usage?window=today", { hint: today && explainUnknown(today) })}
      </ul>
      <section aria-labelledby="needs-you">
        <h2 id="needs-you">Needs you</h2>
        <bridge-needs-you .context=${this.context} .now=${serverNow()}></bridge-needs-you>
      </section>
      ${this.#renderTasks()}
    `;
  }

  #renderTasks(): TemplateResult {
    const { value: running = [], error: runningError } = this.#running;
    const { value: recent, error } = this.#recent;
    if (recent === undefined) return html`${errorNote(error)}`;
    if (recent.length === 0) return firstSteps(this.context.attention.state.adapters);
    const now = serverNow();
    const ended = recent
      .filter(hasEnded)
      .toSorted((one, other) => (other.finishedAt ?? "").localeCompare(one.finishedAt ?? ""))
      .slice(0, RECENT_TASKS);
    return html`
      <section aria-labelledby="running">
        <h2 id="running">Running now</h2>
        ${errorNote(runningError)}
        ${running.length === 0 ? html`<p class="empty">Nothing runs.</p>` : nothing}
        <ul class="rows board" @click=${openRow}>
          ${repeat(
            running,
            ({ taskId }) => taskId,
            (task) => renderRunning(task, now),
          )}
        </ul>
        ${running.length === MAX_RUNNING ? html`<p><a href=${linkTo("tasks?state=running")}>All running tasks</a></p>` : nothing}
      </section>
      <section aria-labelledby="recent">
        <h2 id="recent">Latest ended</h2>
        ${errorNote(error)}
        <ul class="rows board" @click=${openRow}>
          ${repeat(
            ended,
            ({ taskId }) => taskId,
            (task) => html`<li>${renderTask(task, now)} ${age(task.finishedAt, now)}</li>`,
          )}
        </ul>
        <p><a href=${linkTo("tasks")}>All tasks</a></p>
      </section>
    `;
  }
}

const describeTask = ({ taskId, title, agentId, provider }: ListedTask): string =>
  [...(title === null ? [] : [taskId]), agentId, provider].join(" · ");

function renderRunning(task: ListedTask, now: number): TemplateResult {
  const { startedAt, lastProgressAt } = task;
  return html`<li>
    ${renderTask(task, now)}
    <span class="detail do">${lastProgressAt === null ? nothing : html`last event ${ago(lastProgressAt, now)}`}</span>
    ${startedAt === null ? nothing : html`<time datetime=${startedAt} title=${formatFullTime(startedAt)}>for <strong>${formatRunTime(now - Date.parse(startedAt))}</strong></time>`}
  </li>`;
}

const renderTask = (task: ListedTask, now: number): TemplateResult => html`
  ${activityBadge(findActivity(task, now))}
  <div class="what">
    <a href=${taskLink(task.taskId)}>${showHidden(task.title ?? task.taskId)}</a> <span class="detail">${describeTask(task)}${explainEnd(task)}</span>
  </div>
`;

/** Explains the question mark of a sum of costs. */
const explainUnknown = ({ tasksWithoutCost: count }: Stats["total"]): string | undefined =>
  count === 0 ? undefined : `${count} ${count === 1 ? "task" : "tasks"} without a known cost`;

function figure(label: string, value: number | string, target: string, more: { isUrgent?: boolean; hint?: string | undefined } = {}) {
  return html`<li class=${more.isUrgent === true ? "urgent" : ""}>
    <a href=${linkTo(target)} title=${more.hint ?? nothing}><span class="value">${value}</span> <span class="label">${label}</span></a>
  </li>`;
}

customElements.define("bridge-overview", Overview);

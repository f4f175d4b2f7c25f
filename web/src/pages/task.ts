import type { CallbackDetails, ListedTask, Task, TaskFile } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { ApiError } from "../api.ts";
import { readCouncil } from "../council.ts";
import { PageElement } from "../element.ts";
import {
  firstLine,
  formatBytes,
  formatCost,
  formatCount,
  formatDuration,
  formatTime,
  formatUpTo,
  formatValue,
  showHidden,
} from "../format.ts";
import { poll, SNAPSHOT_MS } from "../live/poll.ts";
import { serverNow } from "../live/server-clock.ts";
import { describeAttempts } from "../parts/attempts.ts";
import { activityBadge, ago, callbackBadge, errorNote } from "../parts/badges.ts";
import { callbackAttempts } from "../parts/callback-attempts.ts";
import { councilView } from "../parts/council-view.ts";
import { lane } from "../parts/lane.ts";
import { longText } from "../parts/long-text.ts";
import { markdownText } from "../parts/markdown-text.ts";
import { saveFile } from "../parts/save-file.ts";
import { taskDiff } from "../parts/task-diff.ts";
import { renderTurns } from "../parts/turns.ts";
import { plainText } from "../plain-text.ts";
import { linkTo, taskLink } from "../router.ts";
import { explainQueue, findActivity, hasEnded } from "../task-state.ts";
import { createTimeline } from "../timeline.ts";

const MAX_CHILDREN = 200;
const MAX_AHEAD = 200;
const MAX_FILES = 200;
const ENDED_INTERVAL_MS = 60_000;
/** Entries of the timeline that are rendered at first: the last ones. */
const SHOWN_ENTRIES = 100;

interface TaskView {
  task: Task;
  children: ListedTask[];
  files: TaskFile[];
  request: RequestView;
  /** Null if the callback has had no attempt. */
  callback: CallbackDetails | null;
  /** How many tasks of the tenant wait before it for the same adapter; null unless it is queued. */
  ahead: string | null;
}

/** The request, with its message apart. */
interface RequestView {
  message: unknown;
  fields: Record<string, unknown>;
}

/** One task: its request, its timeline, its result and what belongs to it. */
class TaskPage extends PageElement {
  #timeline = createTimeline();
  /** Whether the page has scrolled to the event that its URL names. */
  #hasScrolled = false;
  #hasGap = false;
  #following: AbortController | null = null;
  /** Whether the stream of the events has ended, or failed. */
  #isTimelineComplete = false;
  /** Whether the task had ended when the page opened. Then the page shows the timeline once, because its last turns come first. */
  #isPast = false;
  #streamError: unknown = null;
  #message = "";
  #isConfirming = false;
  #shownEntries = SHOWN_ENTRIES;
  #ticker: ReturnType<typeof setInterval> | undefined;
  #unsubscribe: () => void = () => {};
  #request: RequestView | undefined;
  #callback: CallbackDetails | null = null;
  #view = poll(this, (signal) => this.#load(signal), {
    intervalMs: () => (this.#isSettled() ? ENDED_INTERVAL_MS : SNAPSHOT_MS),
  });

  override connectedCallback(): void {
    super.connectedCallback();
    this.#ticker = setInterval(() => this.requestUpdate(), 1000);
    this.#unsubscribe = this.context.feed.subscribe((events) => {
      if (events?.some(({ taskId }) => taskId === this.route.id) ?? true) this.#view.refresh();
    });
    this.#timeline = createTimeline(this.route.query.get("event"));
    this.#isTimelineComplete = false;
    this.#following = new AbortController();
    void this.#follow(this.#following.signal);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.#ticker);
    this.#unsubscribe();
    this.#following?.abort();
  }

  /** The events of a running task can arrive by the hundred per second. */
  protected override get paintGapMs(): number {
    return this.#view.value === undefined ? 0 : 100;
  }

  #isSettled(): boolean {
    const task = this.#view.value?.task;
    return task !== undefined && hasEnded(task) && task.callback?.state !== "pending";
  }

  async #load(signal: AbortSignal): Promise<TaskView> {
    const { api } = this.context;
    const path = `/api/v2/tasks/${encodeURIComponent(this.route.id)}`;
    const first = this.#view.value === undefined;
    const loadFiles = (): Promise<{ data: TaskFile[] } | null> =>
      api.list<TaskFile>(`${path}/files`, { limit: MAX_FILES }, { signal }).catch(() => null);
    const [task, children, request, filesOfAnyTask] = await Promise.all([
      api.call<Task>(path, { signal }),
      api.list<ListedTask>("/api/v2/tasks", { parentTaskId: this.route.id, limit: MAX_CHILDREN }, { signal }),
      this.#request ?? this.#loadRequest(path, signal),
      // At first it is not known whether the task has ended, and a second round trip would delay the page.
      first ? loadFiles() : null,
    ]);
    this.#request = request;
    if (first) this.#isPast = hasEnded(task);
    const [files, callback, ahead] = await Promise.all([
      hasEnded(task) ? (filesOfAnyTask ?? loadFiles()) : null,
      this.#loadCallback(task, signal),
      task.state === "queued" ? this.#countAhead(task, signal) : null,
    ]);
    return { task, children: children.data.toReversed(), files: files?.data ?? [], request, callback, ahead };
  }

  async #countAhead({ provider, createdAt }: Task, signal: AbortSignal): Promise<string> {
    const query = { state: "queued", provider, createdBefore: createdAt, limit: MAX_AHEAD };
    const { data, meta } = await this.context.api.list<ListedTask>("/api/v2/tasks", query, { signal });
    return formatUpTo(data.length, meta.nextCursor !== null);
  }

  async #loadRequest(path: string, signal: AbortSignal): Promise<RequestView> {
    const { message, ...fields } = (await this.context.api.call<{ request: Record<string, unknown> }>(`${path}/request`, { signal }))
      .request;
    return { message, fields };
  }

  /** Loads the attempts of the callback again only after another attempt. */
  async #loadCallback({ taskId, callback }: Task, signal: AbortSignal): Promise<CallbackDetails | null> {
    if (callback === null || callback.attempts === 0) return null;
    if (this.#callback?.attempts !== callback.attempts)
      this.#callback = await this.context.api.call<CallbackDetails>(`/api/v2/callbacks/${encodeURIComponent(taskId)}`, { signal });
    return this.#callback;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const onGap = (): void => {
      this.#hasGap = true;
    };
    try {
      for await (const event of this.context.feed.followTask(this.route.id, { signal, onGap })) {
        this.#timeline.add(event);
        this.requestUpdate();
      }
      const task = this.#view.value?.task;
      if (task !== undefined && !hasEnded(task)) this.#view.refresh();
    } catch (error) {
      // The poll reports that the task does not exist, and ends the session of a revoked token.
      if (!signal.aborted) this.#streamError = error;
    }
    this.#isTimelineComplete = true;
    this.requestUpdate();
  }

  async #cancel(): Promise<void> {
    this.#isConfirming = false;
    const path = `/api/v2/tasks/${encodeURIComponent(this.route.id)}/cancel`;
    this.#message = await this.context.api.call(path, { method: "POST" }).then(
      () => "Cancellation requested. The task ends when its runtime has stopped.",
      (error: unknown) => (error instanceof ApiError ? error.message : String(error)),
    );
    this.#view.refresh();
    this.requestUpdate();
  }

  async #redeliver(): Promise<void> {
    const path = `/api/v2/callbacks/${encodeURIComponent(this.route.id)}/redeliver`;
    this.#message = await this.context.api.call(path, { method: "POST" }).then(
      () => "Redelivery started.",
      (error: unknown) => (error instanceof ApiError ? error.message : String(error)),
    );
    this.#view.refresh();
    this.requestUpdate();
  }

  async #download({ path }: TaskFile): Promise<void> {
    const encoded = path.split("/").map(encodeURIComponent).join("/");
    try {
      const blob = await this.context.api.download(`/api/v2/tasks/${encodeURIComponent(this.route.id)}/files/${encoded}`);
      saveFile(blob, path.split("/").at(-1) ?? "file");
    } catch (error) {
      this.#message = error instanceof ApiError ? error.message : String(error);
      this.requestUpdate();
    }
  }

  protected override updated(): void {
    const { marked, turns, entryCount } = this.#timeline;
    if (marked === null || this.#hasScrolled) return;
    const element = this.querySelector(".marked");
    if (element === null) {
      const index = turns.flatMap(({ entries }) => entries).indexOf(marked);
      if (entryCount - index > this.#shownEntries) this.#show(entryCount - index);
      return;
    }
    this.#hasScrolled = true;
    element.scrollIntoView({ block: "center" });
  }

  protected override render(): TemplateResult {
    const { value, error } = this.#view;
    if (error?.status === 404) return this.#renderMissing();
    if (value === undefined)
      return html`<h1>${showHidden(this.route.id)}</h1>${error === null ? html`<p role="status">Loading …</p>` : errorNote(error)}`;
    const { task } = value;
    const now = serverNow();
    const council = readCouncil(task, value.children);
    return html`
      <h1>${showHidden(task.taskId)} ${activityBadge(findActivity(this.#withLastEvent(task), now))}</h1>
      ${errorNote(error)} ${this.#renderActions(task)}
      ${this.#message === "" ? nothing : html`<p class="note info" role="status">${showHidden(this.#message)}</p>`} ${this.#renderState(value, now)}
      ${this.#renderFacts(task, now)} ${council === null ? nothing : councilView(council, now)} ${this.#renderResult(task)} ${renderRequest(value.request)}
      <section aria-labelledby="timeline">
        <h2 id="timeline">Timeline <span class="hint">${this.#timeline.count} events</span></h2>
        ${this.#hasGap ? html`<p class="note warning">Earlier events of this task have been deleted.</p>` : nothing}
        ${
          this.#streamError === null || this.#view.error !== null
            ? nothing
            : html`<p class="note error" role="alert">The events cannot be read: ${String(this.#streamError)}</p>`
        }
        ${this.#isPast && !this.#isTimelineComplete ? html`<p role="status">Loading …</p>` : this.#renderTimeline(task, now)}
      </section>
      ${value.callback === null ? nothing : callbackAttempts(value.callback, now)}
      ${this.#renderChildren(task, value.children, now)} ${this.#renderFiles(value.files)}
      ${task.startedAt === null ? nothing : taskDiff(task.taskId, this.context)}
    `;
  }

  #renderTimeline(task: Task, now: number): TemplateResult {
    const shown = this.#shownEntries;
    return html`
      ${renderTurns({ timeline: this.#timeline, shown, context: this.context, isRunning: !hasEnded(task), now })}
      ${
        this.#timeline.entryCount > shown
          ? html`<button @click=${() => this.#show(shown + SHOWN_ENTRIES)}>Show ${SHOWN_ENTRIES} earlier entries</button>`
          : nothing
      }
    `;
  }

  #show(entries: number): void {
    this.#shownEntries = entries;
    this.requestUpdate();
  }

  #withLastEvent(task: Task): Task {
    const { lastEventAt } = this.#timeline;
    const isNewer = lastEventAt !== null && lastEventAt > (task.lastProgressAt ?? "");
    return isNewer ? { ...task, lastProgressAt: lastEventAt, waitingOn: task.waitingOn === "runtime" ? null : task.waitingOn } : task;
  }

  #renderMissing(): TemplateResult {
    return html`<h1>${showHidden(this.route.id)}</h1>
      <p class="note warning">
        There is no such task. It never existed, belongs to another tenant, was deleted, or ended longer ago than Bridge keeps tasks
        (<code>BRIDGE_RETENTION_DAYS</code>).
      </p>
      <p><a href=${linkTo("tasks")}>All tasks</a></p>`;
  }

  #renderActions(task: Task): TemplateResult {
    const choice = html`<button aria-pressed=${plainText.isOn} @click=${this.#togglePlainText}>Plain text</button>`;
    if (!this.context.identity.scopes.includes("dispatch")) return html`<div class="actions">${choice}</div>`;
    const cancel = this.#isConfirming
      ? html`<span>Cancel this task and its child tasks?</span>
          <button class="danger" @click=${this.#cancel}>Yes, cancel</button> <button @click=${() => this.#confirm(false)}>No</button>`
      : html`<button class="danger" @click=${() => this.#confirm(true)}>Cancel</button>`;
    return html`<div class="actions">
      ${hasEnded(task) ? nothing : cancel}
      <a class="button" href=${linkTo(`new?from=${encodeURIComponent(task.taskId)}`)}>Run again with changes</a>
      ${task.callback?.state === "dead" ? html`<button @click=${this.#redeliver}>Redeliver the callback</button>` : nothing}
      ${choice}
    </div>`;
  }

  #togglePlainText(): void {
    plainText.toggle();
    this.requestUpdate();
  }

  #confirm(isConfirming: boolean): void {
    this.#isConfirming = isConfirming;
    this.requestUpdate();
  }

  #renderState({ task, ahead }: TaskView, now: number): TemplateResult | typeof nothing {
    const latest = this.#withLastEvent(task);
    switch (findActivity(latest, now)) {
      case "queued":
        return html`<p class="note info">
          The task ${explainQueue(task) || "is queued"}. Your tasks for this adapter that were queued before it: ${ahead ?? "?"}.
        </p>`;
      case "approval":
        return html`<p class="note warning">A tool call waits for your decision, in the timeline.</p>`;
      case "silent": {
        const since = latest.lastProgressAt ?? latest.startedAt;
        return html`<p class="note warning">No event for ${since === null ? "?" : formatDuration(now - Date.parse(since))}.</p>`;
      }
      case "failed":
      case "cancelled":
        return html`<p class="note error">
          <strong>${task.result?.errorCode ?? task.state}</strong> ${showHidden(firstLine(task.result?.error ?? "", 2000))}
        </p>`;
      default:
        return nothing;
    }
  }

  #renderFacts(task: Task, now: number): TemplateResult {
    const { result, callback } = task;
    const end = task.finishedAt === null ? now : Date.parse(task.finishedAt);
    const usage = result?.usage;
    const labels = Object.entries(task.labels);
    const facts: [string, unknown][] = [
      ["Agent", html`<a href=${linkTo(`tasks?agentId=${encodeURIComponent(task.agentId)}`)}>${task.agentId}</a>`],
      ["Adapter", `${task.provider}${result === null ? "" : ` · ${result.connection}`}`],
      ["Model", result?.model ?? (result === null ? null : "?")],
      ["Created", html`${formatTime(task.createdAt, now)} (${ago(task.createdAt, now)})`],
      ["Duration", task.startedAt === null ? null : formatDuration(end - Date.parse(task.startedAt))],
      ["Cost", result === null ? null : formatCost(result.costUsd)],
      [
        "Tokens",
        result === null ? null : usage === undefined ? "?" : `${formatCount(usage.inputTokens)} in, ${formatCount(usage.outputTokens)} out`,
      ],
      ["Node", task.node],
      ["Parent", task.parentTaskId === null ? null : html`<a href=${taskLink(task.parentTaskId)}>${task.parentTaskId}</a>`],
      [
        "Callback",
        callback === null
          ? null
          : html`${callbackBadge(callback)} ${showHidden(callback.url)} <span class="detail">${hasEnded(task) ? describeAttempts(callback, now) : "starts when the task ends"}</span>`,
      ],
      ["Labels", labels.length === 0 ? null : labels.map(([name, value]) => `${name}=${value}`).join(", ")],
      ["Metadata", task.metadata === null ? null : html`<code>${showHidden(firstLine(formatValue(task.metadata), 400))}</code>`],
    ];
    return html`<dl class="facts">
      ${facts.filter(([, value]) => value !== null).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
    </dl>`;
  }

  #renderResult({ result, state }: Task): TemplateResult | typeof nothing {
    if (result === null) return nothing;
    return html`<section aria-labelledby="result">
      <h2 id="result">Result</h2>
      ${result.error === undefined || state === "completed" ? nothing : longText(result.error)}
      ${result.output === undefined || result.output === "" ? nothing : markdownText(result.output, { level: 3 })}
      ${result.outputs === undefined ? nothing : html`<details ?open=${!result.output}><summary>Structured output</summary>${longText(result.outputs)}</details>`}
      ${result.error === undefined && !result.output && result.outputs === undefined ? html`<p class="empty">No output.</p>` : nothing}
    </section>`;
  }

  #renderChildren(task: Task, children: readonly ListedTask[], now: number): TemplateResult | typeof nothing {
    if (children.length === 0) return nothing;
    return html`<section aria-labelledby="children">
      <h2 id="children">Child tasks <span class="hint">${children.length}</span></h2>
      <ul class="rows lanes">
        ${repeat(
          children,
          ({ taskId }) => taskId,
          (child) => html`<li>
            ${activityBadge(findActivity(child, now))} <a href=${taskLink(child.taskId)}>${child.agentId}</a>
            <span class="detail">${child.provider}</span> ${lane(task, child, now)}
          </li>`,
        )}
      </ul>
    </section>`;
  }

  #renderFiles(files: readonly TaskFile[]): TemplateResult | typeof nothing {
    if (files.length === 0) return nothing;
    return html`<section aria-labelledby="files">
      <h2 id="files">Files <span class="hint">${files.length}${files.length === MAX_FILES ? "+" : ""}</span></h2>
      <ul class="rows">
        ${files.map(
          (file) => html`<li>
            <code>${showHidden(file.path)}</code> <span class="detail">${formatBytes(file.bytes)}</span>
            <button @click=${() => this.#download(file)} aria-label="Download ${file.path}">Download</button>
          </li>`,
        )}
      </ul>
    </section>`;
  }
}

function renderRequest({ message, fields }: RequestView): TemplateResult {
  return html`<section aria-labelledby="request">
    <h2 id="request">Request</h2>
    ${typeof message === "string" && message !== "" ? longText(message) : nothing}
    <details><summary>All fields</summary>${longText(fields)}</details>
  </section>`;
}

customElements.define("bridge-task", TaskPage);

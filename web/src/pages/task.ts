import type { AcceptedTask, CallbackDetails, ListedTask, Task, TaskFile } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { Copy } from "lucide";
import { ApiError } from "../api.ts";
import { bridgeUrl } from "../base-url.ts";
import { readCouncil } from "../council.ts";
import { PageElement, TASK_TITLE } from "../element.ts";
import { formatBytes, formatDuration, formatUpTo, showHidden } from "../format.ts";
import { poll, SNAPSHOT_MS } from "../live/poll.ts";
import { serverNow } from "../live/server-clock.ts";
import { activityBadge, errorNote } from "../parts/badges.ts";
import { callbackAttempts } from "../parts/callback-attempts.ts";
import { copyText } from "../parts/copy-button.ts";
import { councilView } from "../parts/council-view.ts";
import { icon } from "../parts/icon.ts";
import { longText } from "../parts/long-text.ts";
import { markdownText } from "../parts/markdown-text.ts";
import { menu } from "../parts/menu.ts";
import { saveFile } from "../parts/save-file.ts";
import { taskDiff } from "../parts/task-diff.ts";
import { taskFacts, taskFigures } from "../parts/task-facts.ts";
import { taskFailure } from "../parts/task-failure.ts";
import { timelineView } from "../parts/timeline-view.ts";
import { plainText } from "../plain-text.ts";
import { linkTo, navigate, taskLink } from "../router.ts";
import { quoteForShell } from "../shell-quote.ts";
import { explainQueue, findActivity, hasEnded } from "../task-state.ts";
import { createTimeline } from "../timeline.ts";

const MAX_CHILDREN = 200;
const MAX_AHEAD = 200;
const MAX_FILES = 200;
const ENDED_INTERVAL_MS = 60_000;
/** The time limit of a dispatch that sets none. */
const DEFAULT_TIMEOUT_S = 600;

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
  /** Bridge replaced secrets of the request, so that it cannot be dispatched again as it is. */
  isMasked: boolean;
}

/** What a person is asked to confirm. */
type Question = "cancel" | "delete";

/** One task: its request, its timeline, its result and what belongs to it. */
class TaskPage extends PageElement {
  #timeline = createTimeline();
  #hasGap = false;
  #following: AbortController | null = null;
  /** Whether the stream of the events has ended, or failed. */
  #isTimelineComplete = false;
  /** Whether the task had ended when the page opened. Then the page shows the timeline once, when it is complete. */
  #isPast = false;
  #streamError: unknown = null;
  #message = "";
  #question: Question | null = null;
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
    if (first) this.dispatchEvent(new CustomEvent(TASK_TITLE, { detail: showHidden(task.title ?? task.taskId), bubbles: true }));
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
    const { request, masked } = await this.context.api.call<{ request: Record<string, unknown>; masked: string[] }>(`${path}/request`, {
      signal,
    });
    const { message, ...fields } = request;
    return { message, fields, isMasked: masked.length > 0 };
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

  /** Sends a request, and reports its outcome. */
  async #act(act: () => Promise<unknown>, outcome: string): Promise<void> {
    this.#question = null;
    this.#message = await act().then(
      () => outcome,
      (error: unknown) => (error instanceof ApiError ? error.message : String(error)),
    );
    this.#view.refresh();
    this.requestUpdate();
  }

  #path(part = ""): string {
    return `/api/v2/tasks/${encodeURIComponent(this.route.id)}${part}`;
  }

  readonly #confirmed: Readonly<Record<Question, () => void>> = {
    cancel: () =>
      void this.#act(
        () => this.context.api.call(this.#path("/cancel"), { method: "POST" }),
        "Cancellation requested. The task ends when its runtime has stopped.",
      ),
    delete: () =>
      void this.#act(async () => {
        await this.context.api.call(this.#path(), { method: "DELETE" });
        navigate(linkTo("tasks"));
      }, "Deleted."),
  };

  /** Dispatches the request again as a new task, and opens it. */
  #runAgain(changes: Record<string, unknown>): void {
    const { message, fields, isMasked } = this.#request as RequestView;
    if (isMasked) {
      navigate(linkTo(`new?from=${encodeURIComponent(this.route.id)}`));
      return;
    }
    const { taskId: _, ...others } = fields;
    const body = { ...others, ...(message !== undefined && { message }), ...changes };
    void this.#act(async () => {
      const { taskId } = await this.context.api.call<AcceptedTask>("/api/v2/dispatch", { method: "POST", body });
      navigate(taskLink(taskId));
    }, "");
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

  protected override render(): TemplateResult {
    const { value, error } = this.#view;
    if (error?.status === 404) return this.#renderMissing();
    if (value === undefined)
      return html`<h1>${showHidden(this.route.id)}</h1>${error === null ? html`<p role="status">Loading …</p>` : errorNote(error)}`;
    const { task } = value;
    const now = serverNow();
    const council = readCouncil(task, value.children);
    return html`
      ${this.#renderHead(task, now)} ${errorNote(error)}
      ${this.#message === "" ? nothing : html`<p class="note info" role="status">${showHidden(this.#message)}</p>`}
      <div class="task-layout">
        <aside aria-label="Details">${taskFacts(task, now)}</aside>
        <div class="task-main">
          ${taskFailure(task, {
            mayDispatch: this.#mayDispatch(),
            timeoutSeconds: value.request.isMasked ? null : (toSeconds(value.request.fields["timeoutSeconds"]) ?? DEFAULT_TIMEOUT_S),
            runAgain: (changes) => this.#runAgain(changes),
          })}
          ${this.#renderState(value, now)} ${council === null ? nothing : councilView(council, this.context, now)}
          ${this.#renderResult(task, { isFolded: council !== null && council.findings.length > 0 })} ${renderRequest(value.request)}
          <section aria-labelledby="timeline">
            <h2 id="timeline">Timeline <span class="hint">${this.#timeline.count} events</span></h2>
            ${this.#hasGap ? html`<p class="note warning">Earlier events of this task have been deleted.</p>` : nothing}
            ${
              this.#streamError === null || this.#view.error !== null
                ? nothing
                : html`<p class="note error" role="alert">The events cannot be read: ${String(this.#streamError)}</p>`
            }
            ${
              this.#isPast && !this.#isTimelineComplete
                ? html`<p role="status">Loading …</p>`
                : timelineView(this.#timeline, task, value.children, this.context, now)
            }
          </section>
          ${value.callback === null ? nothing : callbackAttempts(value.callback, now)} ${this.#renderFiles(value.files)}
          ${task.startedAt === null ? nothing : taskDiff(task.taskId, this.context)}
        </div>
      </div>
    `;
  }

  #mayDispatch(): boolean {
    return this.context.identity.scopes.includes("dispatch");
  }

  #renderHead(task: Task, now: number): TemplateResult {
    return html`<div class="task-head">
      <p class="crumb">
        <a href=${linkTo("tasks")}>Tasks</a> / <code>${showHidden(task.taskId)}</code>
        <button class="plain small" @click=${() => this.#copy(task.taskId, "id")} aria-label="Copy the id">${icon(Copy)}</button>
      </p>
      <div class="page-head">
        <h1>${showHidden(task.title ?? task.taskId)} ${activityBadge(findActivity(this.#withLastEvent(task), now))}</h1>
        ${this.#renderActions(task)}
      </div>
      ${taskFigures(task, now)}
    </div>`;
  }

  async #copy(text: string, what: string): Promise<void> {
    this.#message = (await copyText(text)) ?? `Copied the ${what}.`;
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
    const ended = hasEnded(task);
    const { taskId } = task;
    const items = [
      { name: "Copy the link", run: () => void this.#copy(taskLink(taskId), "link") },
      { name: "Copy as curl", run: () => void this.#copy(toCurl(this.#path()), "curl command") },
      { name: "Copy as command", run: () => void this.#copy(`brg task ${quoteForShell(taskId)}`, "command") },
      {
        name: "Save as JSON",
        run: () => saveFile(new Blob([JSON.stringify(task, null, 2)], { type: "application/json" }), `${taskId}.json`),
      },
      { name: plainText.isOn ? "Show Markdown" : "Show plain text", run: () => this.#togglePlainText() },
      ...(this.#mayDispatch() && ended ? [{ name: "Delete …", run: () => this.#ask("delete") }] : []),
    ];
    return html`<div class="actions">${this.#renderButtons(task)} ${menu("More actions", items)}</div>`;
  }

  #renderButtons(task: Task): TemplateResult | typeof nothing {
    if (!this.#mayDispatch()) return nothing;
    if (this.#question !== null)
      return html`<span>${questions[this.#question]}</span>
        <button class="danger" @click=${this.#confirmed[this.#question]}>Yes, ${this.#question}</button>
        <button @click=${() => this.#ask(null)}>No</button>`;
    return html`
      ${hasEnded(task) ? nothing : html`<button class="danger" @click=${() => this.#ask("cancel")}>Cancel</button>`}
      ${task.callback?.state === "dead" ? html`<button @click=${this.#redeliver}>Redeliver the callback</button>` : nothing}
      ${task.state === "completed" ? html`<button @click=${() => this.#runAgain({})}>Run again</button>` : nothing}
      <a class="button" href=${linkTo(`new?from=${encodeURIComponent(task.taskId)}`)}>Run again with changes</a>
    `;
  }

  #redeliver(): void {
    const path = `/api/v2/callbacks/${encodeURIComponent(this.route.id)}/redeliver`;
    void this.#act(() => this.context.api.call(path, { method: "POST" }), "Redelivery started.");
  }

  #togglePlainText(): void {
    plainText.toggle();
    this.requestUpdate();
  }

  #ask(question: Question | null): void {
    this.#question = question;
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
      default:
        return nothing;
    }
  }

  /** The result. It is folded if the page shows the same in another form. */
  #renderResult({ result, state }: Task, { isFolded }: { isFolded: boolean }): TemplateResult | typeof nothing {
    if (result === null) return nothing;
    const { error, output, outputs } = result;
    const hasFailed = error !== undefined && state !== "completed";
    if (hasFailed && !isLong(error) && !output && outputs === undefined) return nothing;
    const text = output === undefined || output === "" ? nothing : markdownText(skipFrontMatter(output), { level: 3 });
    return html`<section aria-labelledby="result">
      <h2 id="result">${hasFailed ? "Error" : "Result"}</h2>
      ${hasFailed ? longText(error) : nothing}
      ${isFolded && text !== nothing ? html`<details><summary>The whole report</summary>${text}</details>` : text}
      ${outputs === undefined ? nothing : html`<details ?open=${!output}><summary>Structured output</summary>${longText(outputs)}</details>`}
      ${error === undefined && !output && outputs === undefined ? html`<p class="empty">No output.</p>` : nothing}
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
            <button @click=${() => this.#download(file)} aria-label="Download ${showHidden(file.path)}">Download</button>
          </li>`,
        )}
      </ul>
    </section>`;
  }
}

const questions: Readonly<Record<Question, string>> = {
  cancel: "Cancel this task and its child tasks?",
  delete: "Delete this task with its events and its callback?",
};

/** Returns a text without the YAML block at its beginning, whose fields the page shows elsewhere. */
const skipFrontMatter = (text: string): string => text.replace(/^---\n(?:[\w-]+: .*\n)+---\n/, "");

/** An error of one short line stands in the explanation of the failure. */
const isLong = (error: string): boolean => error.length > 400 || error.includes("\n");

const toSeconds = (value: unknown): number | null => (typeof value === "number" ? value : null);

const toCurl = (path: string): string =>
  `curl ${quoteForShell(new URL(path.slice(1), bridgeUrl).href)} -H "Authorization: Bearer $BRIDGE_TOKEN"`;

function renderRequest({ message, fields }: RequestView): TemplateResult {
  return html`<section aria-labelledby="request">
    <h2 id="request">Request</h2>
    ${typeof message === "string" && message !== "" ? longText(message) : nothing}
    <details><summary>All fields</summary>${longText(fields)}</details>
  </section>`;
}

customElements.define("bridge-task", TaskPage);

import type { AcceptedTask, ListedTask, Task, TaskFile } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { ApiError } from "../api.ts";
import { readCouncil } from "../council.ts";
import { PageElement, TASK_TITLE } from "../element.ts";
import { formatDuration, showHidden } from "../format.ts";
import { poll, SNAPSHOT_MS } from "../live/poll.ts";
import { serverNow } from "../live/server-clock.ts";
import { createTaskLoader, type RequestView, type TaskView } from "../live/task-loader.ts";
import { errorNote } from "../parts/badges.ts";
import { callbackAttempts } from "../parts/callback-attempts.ts";
import { copyText } from "../parts/copy-button.ts";
import { councilView } from "../parts/council-view.ts";
import { saveFile } from "../parts/save-file.ts";
import { taskDiff } from "../parts/task-diff.ts";
import { taskFacts } from "../parts/task-facts.ts";
import { taskFailure } from "../parts/task-failure.ts";
import { taskFiles } from "../parts/task-files.ts";
import { type Question, type TaskActions, taskHead } from "../parts/task-head.ts";
import { findShownText, taskRequest, taskResult } from "../parts/task-result.ts";
import { timelineView } from "../parts/timeline-view.ts";
import { plainText } from "../plain-text.ts";
import { longerLimit } from "../rerun.ts";
import { linkTo, navigate, taskLink } from "../router.ts";
import { explainQueue, findActivity, hasEnded } from "../task-state.ts";
import { createTimeline } from "../timeline.ts";

const ENDED_INTERVAL_MS = 60_000;

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
  #loadTask: ReturnType<typeof createTaskLoader> | undefined;
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

  /** The events of a running task can arrive by the hundred per second. Those of an ended task are painted once. */
  protected override get paintGapMs(): number {
    return this.#view.value === undefined || this.#isPast ? 0 : 100;
  }

  #isSettled(): boolean {
    const task = this.#view.value?.task;
    return task !== undefined && hasEnded(task) && task.callback?.state !== "pending";
  }

  async #load(signal: AbortSignal): Promise<TaskView> {
    const isFirst = this.#loadTask === undefined;
    this.#loadTask ??= createTaskLoader(this.context.api, this.route.id);
    const view = await this.#loadTask(signal);
    if (isFirst) {
      this.dispatchEvent(new CustomEvent(TASK_TITLE, { detail: showHidden(view.task.title ?? view.task.taskId), bubbles: true }));
      this.#isPast = hasEnded(view.task);
    }
    return view;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const onGap = (): void => {
      this.#hasGap = true;
    };
    try {
      for await (const event of this.context.feed.followTask(this.route.id, { signal, onGap })) {
        this.#timeline.add(event);
        if (!this.#isPast) this.requestUpdate();
        if (!this.#isPast && event.type === "usage.reported") this.#view.refresh();
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

  #confirm(question: Question): void {
    if (question === "cancel")
      void this.#act(
        () => this.context.api.call(this.#path("/cancel"), { method: "POST" }),
        "Cancellation requested. The task ends when its runtime has stopped.",
      );
    else
      void this.#act(async () => {
        await this.context.api.call(this.#path(), { method: "DELETE" });
        navigate(linkTo("tasks"));
      }, "Deleted.");
  }

  #actions({ request }: TaskView): TaskActions {
    return {
      mayDispatch: this.#mayDispatch(),
      question: this.#question,
      ask: (question) => {
        this.#question = question;
        this.requestUpdate();
      },
      confirm: (question) => this.#confirm(question),
      runAgain: () => this.#runAgain(request, {}),
      redeliver: () => {
        const path = `/api/v2/callbacks/${encodeURIComponent(this.route.id)}/redeliver`;
        void this.#act(() => this.context.api.call(path, { method: "POST" }), "Redelivery started.");
      },
      copy: (text, what) => void this.#copy(text, what),
      togglePlainText: () => {
        plainText.toggle();
        this.requestUpdate();
      },
    };
  }

  /** Dispatches the request again as a new task, and opens it. */
  #runAgain({ message, fields, isMasked }: RequestView, changes: Record<string, unknown>): void {
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
      const blob = await this.context.api.download(this.#path(`/files/${encoded}`));
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
    const { task, request, children } = value;
    const now = serverNow();
    const council = readCouncil(task, children);
    const latest = this.#withLastEvent(task);
    return html`
      ${taskHead(task, findActivity(latest, now), this.#actions(value), now)} ${errorNote(error)}
      ${this.#message === "" ? nothing : html`<p class="note info" role="status">${showHidden(this.#message)}</p>`}
      <div class="task-layout">
        <div class="task-main">
          ${taskFailure(task, {
            mayDispatch: this.#mayDispatch(),
            longerLimit: request.isMasked ? null : longerLimit(task, Number(request.fields["timeoutSeconds"])),
            runAgain: (changes) => this.#runAgain(request, changes),
          })}
          ${renderState(latest, value.ahead, now)} ${council === null ? nothing : councilView(council, this.context, now)}
          ${taskResult(task, this.#timeline, { isFolded: council !== null && council.findings.length > 0 })} ${taskRequest(request)}
        </div>
        <aside aria-label="Details">${taskFacts(task, now)}</aside>
      </div>
      ${this.#renderTimeline(task, children, now)}
      ${value.callback === null ? nothing : callbackAttempts(value.callback, now)}
      ${taskFiles(value.files, (file) => void this.#download(file))}
      ${task.repository === null ? nothing : renderChanges(task)} ${task.startedAt === null ? nothing : taskDiff(task, this.context)}
    `;
  }

  #renderTimeline(task: Task, children: readonly ListedTask[], now: number): TemplateResult {
    return html`<section aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      ${this.#hasGap ? html`<p class="note warning">Earlier events of this task have been deleted.</p>` : nothing}
      ${
        this.#streamError === null || this.#view.error !== null
          ? nothing
          : html`<p class="note error" role="alert">The events cannot be read: ${String(this.#streamError)}</p>`
      }
      ${
        this.#isPast && !this.#isTimelineComplete
          ? html`<p role="status">Loading …</p>`
          : timelineView({ timeline: this.#timeline, task, childTasks: children, shown: findShownText(task), context: this.context, now })
      }
    </section>`;
  }

  #mayDispatch(): boolean {
    return this.context.identity.scopes.includes("dispatch");
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
}

/** Shows what a task has changed in its work tree, as soon as the code for it is loaded. */
function renderChanges(task: Task): TemplateResult {
  import("../parts/task-changes.ts").catch(() => {});
  return html`<bridge-task-changes .task=${task}></bridge-task-changes>`;
}

/** Explains why a task waits or is silent; nothing while it works. */
function renderState(task: Task, ahead: string | null, now: number): TemplateResult | typeof nothing {
  switch (findActivity(task, now)) {
    case "queued":
      return html`<p class="note info">
        The task ${explainQueue(task) || "is queued"}. Your tasks for this adapter that were queued before it: ${ahead ?? "?"}.
      </p>`;
    case "approval":
      return html`<p class="note warning">A tool call waits for your decision, in the timeline.</p>`;
    case "silent": {
      const since = task.lastProgressAt ?? task.startedAt;
      return html`<p class="note warning">No event for ${since === null ? "?" : formatDuration(now - Date.parse(since))}.</p>`;
    }
    default:
      return nothing;
  }
}

customElements.define("bridge-task", TaskPage);

import type { AcceptedTask, Adapter, DispatchCheck, Domain, FieldError, Repository, Task } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { ApiError } from "../api.ts";
import { bridgeUrl } from "../base-url.ts";
import {
  buildDispatch,
  describeFault,
  type FormKind,
  type FormValues,
  fieldLabels,
  fieldOf,
  toCurl,
  toFormValues,
  toTypeScript,
} from "../dispatch-form.ts";
import { PageElement } from "../element.ts";
import { showHidden } from "../format.ts";
import { agentChoices } from "../parts/agent-choices.ts";
import { errorNote } from "../parts/badges.ts";
import { copyButton } from "../parts/copy-button.ts";
import { councilFields, inputsOf, isCouncil } from "../parts/council-fields.ts";
import "../parts/dispatch-check.ts";
import { type FormState, formField, type Option } from "../parts/form-field.ts";
import { type Suggestion, suggestChange } from "../rerun.ts";
import { navigate, taskLink } from "../router.ts";

const MAX_AGENTS = 200;
const MAX_DOMAINS = 200;
const MAX_REPOSITORIES = 200;

type Resolved = NonNullable<DispatchCheck["task"]>["resolved"];

/** The beginning of a JSON field, by its name. */
const templates: Readonly<Record<string, string>> = { responderInput: '{\n  "tool": "",\n  "describe": ""\n}' };

/** The form that dispatches a task. Its fields follow the capabilities of the adapter. */
class NewTask extends PageElement {
  #values: FormValues = {};
  /** What Bridge has reported about the fields. */
  #errors: readonly FieldError[] = [];
  #error: ApiError | null = null;
  /** The fields whose faults are shown. */
  #edited = new Set<string>();
  /** Whether the form differs from an empty one, so that it is checked. */
  #isTouched = false;
  #showsAll = false;
  #isSending = false;
  #isLoading = true;
  #agents: readonly string[] = [];
  #domains: readonly Domain[] = [];
  #defaults: Partial<Resolved> = {};
  /** What to change, if the form repeats a task that failed. */
  #suggestion: Suggestion | null = null;
  /** The workspace whose domains are listed; undefined before the first list. */
  #domainsOf: string | undefined;
  /** Empty if the operator offers none. */
  #repositories: readonly Repository[] = [];
  #masked: readonly string[] = [];
  #unsubscribe: () => void = () => {};

  override connectedCallback(): void {
    super.connectedCallback();
    this.#unsubscribe = this.context.attention.subscribe(() => this.requestUpdate());
    const agentId = this.route.query.get("agentId");
    if (agentId !== null) this.#values["agentId"] = agentId;
    void this.#load();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#unsubscribe();
  }

  async #load(): Promise<void> {
    const { api } = this.context;
    const from = this.route.query.get("from");
    try {
      if (from !== null) {
        const path = `/api/v2/tasks/${encodeURIComponent(from)}`;
        const [{ request, masked }, task] = await Promise.all([
          api.call<{ request: Record<string, unknown>; masked: string[] }>(`${path}/request`),
          api.call<Task>(path),
        ]);
        this.#values = toFormValues(request);
        this.#suggestion = suggestChange(task, this.#values);
        if (this.#suggestion?.value !== undefined) this.#values[this.#suggestion.field] = this.#suggestion.value;
        this.#masked = masked;
        this.#isTouched = true;
      }
      this.#isLoading = false;
      this.requestUpdate();
      const { data } = await api.list<{ agentId: string }>("/api/v2/agents", { limit: MAX_AGENTS });
      this.#agents = data.map(({ agentId }) => agentId);
      this.#repositories = (await api.list<Repository>("/api/v2/repositories", { limit: MAX_REPOSITORIES })).data;
    } catch (error) {
      this.#error = error instanceof ApiError ? error : null;
    }
    this.#isLoading = false;
    this.requestUpdate();
  }

  /** Lists the domains of councils, with those of the agent's workspace if there is one. */
  async #loadDomains(): Promise<void> {
    const agentId = this.#values["agentId"]?.trim() ?? "";
    const workspace = this.#agents.includes(agentId) ? agentId : "";
    if (workspace === this.#domainsOf) return;
    this.#domainsOf = workspace;
    const page = await this.context.api.list<Domain>("/api/v2/domains", { limit: MAX_DOMAINS, workspace }).catch(() => null);
    if (page !== null && this.#domainsOf === workspace) this.#domains = page.data;
    this.requestUpdate();
  }

  #storedAdapter(): string {
    return `bridge.adapter.${this.context.identity.tenant}`;
  }

  /** Chooses the adapter that was used last, or the first healthy one. */
  #chooseAdapter(): void {
    const { adapters } = this.context.attention.state;
    if (this.#isLoading || (this.#values["provider"] ?? "") !== "" || adapters.length === 0) return;
    const usable = adapters.filter(({ health }) => health.status !== "offline");
    const last = usable.find(({ provider }) => provider === localStorage.getItem(this.#storedAdapter()));
    const chosen = last ?? usable.find(({ health }) => health.status === "healthy") ?? usable[0] ?? adapters[0];
    this.#values["provider"] = chosen?.provider ?? "";
  }

  #adapter(): Adapter | undefined {
    return this.context.attention.state.adapters.find(({ provider }) => provider === this.#values["provider"]);
  }

  #kind(): FormKind {
    return isCouncil(this.#adapter()) ? "council" : "agent";
  }

  override onKey(key: string): boolean {
    if (key !== "/") return false;
    this.querySelector<HTMLElement>("main select, select, input")?.focus();
    return true;
  }

  async #submit(event: Event): Promise<void> {
    event.preventDefault();
    const { body, errors } = buildDispatch(this.#values, this.#kind());
    this.#showsAll = true;
    this.#isTouched = true;
    this.#error = null;
    if (errors.length > 0) return this.#showFirstError();
    this.#isSending = true;
    this.requestUpdate();
    try {
      const { taskId } = await this.context.api.call<AcceptedTask>("/api/v2/dispatch", { method: "POST", body });
      localStorage.setItem(this.#storedAdapter(), this.#values["provider"] ?? "");
      navigate(taskLink(taskId));
    } catch (error) {
      this.#error = error instanceof ApiError ? error : new ApiError(0, "unexpected", String(error));
      this.#errors = this.#error.errors;
      await this.#showFirstError();
    } finally {
      this.#isSending = false;
      this.requestUpdate();
    }
  }

  async #showFirstError(): Promise<void> {
    this.requestUpdate();
    await this.updateComplete;
    this.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }

  #form(errors: readonly FieldError[], kind: FormKind): FormState {
    return {
      valueOf: (name) => this.#values[name] ?? "",
      faultOf: (name) => {
        const fault = errors.find(({ path }) => fieldOf(path, kind) === name);
        return fault === undefined || !(this.#showsAll || this.#edited.has(name)) ? "" : describeFault(name, fault.message);
      },
      onEdit: (name, value) => {
        this.#values[name] = value;
        if (name === "provider" || name === "agentId") this.#defaults = {};
        this.#edited.add(name);
        this.#isTouched = true;
        this.requestUpdate();
      },
    };
  }

  protected override render(): TemplateResult {
    if (!this.context.identity.scopes.includes("dispatch"))
      return html`<h1>New task</h1><p class="note warning">Your token cannot dispatch tasks.</p>`;
    this.#chooseAdapter();
    const adapter = this.#adapter();
    const kind = this.#kind();
    if (kind === "council") void this.#loadDomains();
    const { body, errors } = buildDispatch(this.#values, kind);
    const form = this.#form([...errors, ...this.#errors], kind);
    const nameOf = (path: string): string | null => fieldLabels[fieldOf(path, kind) ?? ""] ?? null;
    return html`
      <h1>New task</h1>
      ${this.#renderError(nameOf)}
      ${this.#masked.length === 0 ? nothing : html`<p class="note warning">Replace the masked secrets: ${showHidden(this.#masked.join(", "))}.</p>`}
      <div class="dispatch-page">
        <form class="dispatch" @submit=${this.#submit} @keydown=${this.#onEnter} novalidate>
          ${this.#renderFirst(form, adapter)} ${this.#renderRepository(form)}
          ${kind === "council" ? this.#renderCouncil(form, adapter) : this.#renderAgent(form, adapter)}
          ${this.#renderMore(form, adapter, kind)}
          <p class="actions wide">
            <button class="primary" type="submit" ?disabled=${this.#isSending} aria-keyshortcuts="Control+Enter Meta+Enter">Dispatch</button>
            <span class="hint" aria-hidden="true"><kbd>Ctrl Enter</kbd></span>
            ${this.#isSending ? html`<span role="status">Sending …</span>` : nothing}
          </p>
        </form>
        <div class="dispatch-side">
          <bridge-dispatch-check
            .context=${this.context} .body=${!this.#isTouched ? null : JSON.stringify(body)} .nameOf=${nameOf} .onCheck=${this.#onCheck}
          ></bridge-dispatch-check>
          ${renderCode("As a command", toCurl(new URL("api/v2/dispatch", bridgeUrl).href, body), "Copy as curl")}
          ${renderCode("As TypeScript", toTypeScript(bridgeUrl.href, body), "Copy as TypeScript")}
        </div>
      </div>
    `;
  }

  /** Ctrl+Enter sends the form from every field. */
  #onEnter = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || this.#isSending) return;
    event.preventDefault();
    (event.currentTarget as HTMLFormElement).requestSubmit();
  };

  /** Keeps the values that apply to the fields that were empty in the checked body. */
  #onCheck = ({ problem, task }: DispatchCheck, body: Readonly<Record<string, unknown>>): void => {
    this.#errors = problem?.errors ?? [];
    const resolved = Object.entries(task?.resolved ?? {}).filter(([name]) => body[name] === undefined);
    this.#defaults = { ...this.#defaults, ...Object.fromEntries(resolved) };
    this.requestUpdate();
  };

  /** Shows why a dispatch was rejected, unless the fields show it. */
  #renderError(nameOf: (path: string) => string | null): TemplateResult | typeof nothing {
    if (this.#error === null || this.#error.errors.length === 0) return errorNote(this.#error);
    const others = this.#error.errors.filter(({ path }) => nameOf(path) === null);
    return html`${others.map(({ path, message }) => html`<p class="note error" role="alert"><code>${showHidden(path)}</code> ${showHidden(message)}</p>`)}`;
  }

  #renderFirst(form: FormState, adapter: Adapter | undefined): TemplateResult {
    const { adapters } = this.context.attention.state;
    const options = adapters.map(({ provider, health }): Option => {
      const isOffline = health.status === "offline";
      return {
        value: provider,
        name: isOffline ? `${provider} (offline)` : provider,
        isDisabled: isOffline && provider !== this.#values["provider"],
      };
    });
    const agentId = this.#values["agentId"]?.trim() ?? "";
    const hint =
      agentId === "" || this.#agents.includes(agentId)
        ? "The task works in the directory of this agent. A new name creates one."
        : "This is a new agent: the task creates its directory.";
    return html`
      ${formField({ name: "provider", type: options, none: adapters.length === 0 ? "default" : null }, form)}
      <div>${formField({ name: "agentId", list: "agents", hint }, form)} ${agentChoices(this.#agents, form)}</div>
      <datalist id="agents">${this.#agents.map((agent) => html`<option value=${agent}></option>`)}</datalist>
      ${
        adapter === undefined || adapter.health.status === "healthy"
          ? nothing
          : html`<p class="note warning wide">${adapter.provider} is ${adapter.health.status}. ${showHidden(adapter.health.detail ?? "")}</p>`
      }
    `;
  }

  /** Shows the fields of the repository, if there is one to choose. */
  #renderRepository(form: FormState): TemplateResult | typeof nothing {
    const chosen = this.#values["repository.name"] ?? "";
    if (this.#repositories.length === 0 && chosen === "") return nothing;
    const repository = this.#repositories.find(({ name }) => name === chosen);
    const options = [...new Set([...this.#repositories.map(({ name }) => name), ...(chosen === "" ? [] : [chosen])])];
    const hint = "The task works in its own work tree of this repository, instead of the directory of its agent.";
    return html`
      ${formField({ name: "repository.name", type: toOptions(options), none: "none", hint }, form)}
      ${
        chosen === ""
          ? nothing
          : html`${formField({ name: "repository.ref", usual: repository?.defaultRef ?? "", hint: "A branch, a tag or a commit." }, form)}
              ${formField({ name: "repository.branch", hint: "The default is bridge/ and the id of the task." }, form)}`
      }
    `;
  }

  #hintOf(name: string): string {
    return this.#suggestion?.field === name ? this.#suggestion.reason : "";
  }

  /** The value that applies to an empty field; empty if the last check did not show it. */
  #defaultOf(name: keyof Resolved): string {
    const value = this.#defaults[name];
    return value === undefined || value === null ? "" : String(value);
  }

  #renderAgent(form: FormState, adapter: Adapter | undefined): TemplateResult {
    const { approvals, outputStrategies = [] } = (adapter?.capabilities ?? {}) as { approvals?: boolean; outputStrategies?: string[] };
    for (const name of inputsOf(adapter)) this.#values[name] ??= templates[name] ?? "";
    return html`
      ${formField({ name: "message", type: "area", hint: this.#hintOf("message") }, form)}
      ${inputsOf(adapter).map((name) => formField({ name, type: "area", hint: "JSON" }, form))}
      ${formField({ name: "profile", type: toOptions(["inspect", "modify"]), usual: this.#defaultOf("profile"), hint: "inspect: read-only. modify: may edit files and run commands." }, form)}
      ${approvals === true ? formField({ name: "approvals", type: toOptions(["ask", "deny", "allow"]), usual: this.#defaultOf("approvals") }, form) : nothing}
      ${formField({ name: "model", usual: this.#defaultOf("model"), hint: this.#hintOf("model") }, form)}
      ${formField({ name: "timeoutSeconds", type: "number", usual: this.#defaultOf("timeoutSeconds"), hint: this.#hintOf("timeoutSeconds") }, form)}
      ${outputStrategies.length > 1 ? formField({ name: "output", type: toOptions(outputStrategies) }, form) : nothing}
      ${this.#values["output"] === "file" ? formField({ name: "outputPath" }, form) : nothing}
      ${this.#values["output"] === "structured" ? formField({ name: "outputSchema", type: "area", hint: this.#hintOf("outputSchema") }, form) : nothing}
    `;
  }

  #renderCouncil(form: FormState, adapter: Adapter | undefined): TemplateResult {
    const { adapters } = this.context.attention.state;
    return html`
      ${councilFields(form, {
        ...{ provider: adapter?.provider ?? "", adapters, domains: this.#domains },
        ...{ usualOf: (name) => this.#defaultOf(name), hintOf: (name) => this.#hintOf(name) },
      })}
    `;
  }

  #renderMore(form: FormState, adapter: Adapter | undefined, kind: FormKind): TemplateResult {
    const { sessionResume } = (adapter?.capabilities ?? {}) as { sessionResume?: boolean };
    return html`<details class="wide">
      <summary>More fields</summary>
      <div class="dispatch">
        ${formField({ name: "taskId", hint: "A repeated id refers to the same task." }, form)}
        ${formField({ name: "maxCostUsd", type: "number", hint: "The task stops at this cost if its adapter reports usage while it runs." }, form)}
        ${sessionResume === true ? formField({ name: "resumeToken" }, form) : nothing}
        ${formField({ name: "callbackUrl", type: "url" }, form)} ${kind === "council" ? formField({ name: "model" }, form) : nothing}
        ${formField({ name: "systemPrompt", type: "area" }, form)} ${formField({ name: "metadata", type: "area", hint: "JSON object" }, form)}
        ${kind === "council" ? formField({ name: "council.others", type: "area", hint: 'JSON object, such as {"context_summary": "…"}' }, form) : nothing}
        ${formField({ name: "others", type: "area", hint: "JSON object" }, form)}
      </div>
    </details>`;
  }
}

const toOptions = (values: readonly string[]): Option[] => values.map((value) => ({ value }));

const renderCode = (title: string, code: string, label: string): TemplateResult =>
  html`<details>
    <summary>${title}</summary>
    <pre tabindex="0">${showHidden(code)}</pre>
    ${copyButton(code, label)}
  </details>`;

customElements.define("bridge-new", NewTask);

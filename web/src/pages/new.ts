import type { AcceptedTask, Adapter, FieldError } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import { ApiError } from "../api.ts";
import { bridgeUrl } from "../base-url.ts";
import { buildDispatch, type FormValues, fieldOf, toCurl, toFormValues, toTypeScript } from "../dispatch-form.ts";
import { PageElement } from "../element.ts";
import { showHidden } from "../format.ts";
import { errorNote } from "../parts/badges.ts";
import { copyButton } from "../parts/copy-button.ts";
import "../parts/dispatch-check.ts";
import { navigate, taskLink } from "../router.ts";

const MAX_AGENTS = 200;

interface FieldOptions {
  type?: "text" | "number" | "url" | "area" | readonly string[];
  hint?: string;
  list?: string;
}

/** The form that dispatches a task. Its fields follow the capabilities of the adapter. */
class NewTask extends PageElement {
  #values: FormValues = {};
  #errors: readonly FieldError[] = [];
  #error: ApiError | null = null;
  #isSending = false;
  #agents: readonly string[] = [];
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
        const path = `/api/v2/tasks/${encodeURIComponent(from)}/request`;
        const { request, masked } = await api.call<{ request: Record<string, unknown>; masked: string[] }>(path);
        this.#values = toFormValues(request);
        this.#masked = masked;
      }
      const { data } = await api.list<{ agentId: string }>("/api/v2/agents", { limit: MAX_AGENTS });
      this.#agents = data.map(({ agentId }) => agentId);
    } catch (error) {
      this.#error = error instanceof ApiError ? error : null;
    }
    this.requestUpdate();
  }

  #adapter(): Adapter | undefined {
    const { adapters } = this.context.attention.state;
    const provider = this.#values["provider"] ?? "";
    return provider === "" && adapters.length === 1 ? adapters[0] : adapters.find((adapter) => adapter.provider === provider);
  }

  override onKey(key: string): boolean {
    if (key !== "/") return false;
    this.querySelector<HTMLElement>("select, input")?.focus();
    return true;
  }

  async #submit(event: Event): Promise<void> {
    event.preventDefault();
    const { body, errors } = buildDispatch(this.#values);
    this.#errors = errors;
    this.#error = null;
    if (errors.length > 0) return this.#showFirstError();
    this.#isSending = true;
    this.requestUpdate();
    try {
      const { taskId } = await this.context.api.call<AcceptedTask>("/api/v2/dispatch", { method: "POST", body });
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

  protected override render(): TemplateResult {
    const { adapters } = this.context.attention.state;
    const adapter = this.#adapter();
    const {
      approvals,
      sessionResume,
      inputs = [],
      outputStrategies = [],
    } = (adapter?.capabilities ?? {}) as {
      approvals?: boolean;
      sessionResume?: boolean;
      inputs?: string[];
      outputStrategies?: string[];
    };
    const { body } = buildDispatch(this.#values);
    const others = this.#errors.filter(({ path }) => fieldOf(path) === null);
    if (!this.context.identity.scopes.includes("dispatch"))
      return html`<h1>New task</h1><p class="note warning">Your token cannot dispatch tasks.</p>`;
    return html`
      <h1>New task</h1>
      ${errorNote(this.#error)}
      ${others.map(({ path, message }) => html`<p class="note error"><code>${showHidden(path)}</code> ${showHidden(message)}</p>`)}
      ${this.#masked.length === 0 ? nothing : html`<p class="note warning">Replace the masked secrets: ${showHidden(this.#masked.join(", "))}.</p>`}
      <form class="dispatch" @submit=${this.#submit} novalidate>
        ${this.#field("provider", "Adapter", { type: adapters.map(({ provider }) => provider) })}
        ${
          adapter === undefined || adapter.health.status === "healthy"
            ? nothing
            : html`<p class="note warning wide">${adapter.provider} is ${adapter.health.status}. ${showHidden(adapter.health.detail ?? "")}</p>`
        }
        ${this.#field("agentId", "Agent", { list: "agents", hint: "The task works in the directory of this agent." })}
        <datalist id="agents">${this.#agents.map((agent) => html`<option value=${agent}></option>`)}</datalist>
        ${this.#field("message", "Message", { type: "area", hint: "What to do." })}
        ${this.#field("profile", "Profile", { type: ["inspect", "modify"], hint: "inspect: read-only. modify: may edit files and run commands." })}
        ${approvals === true ? this.#field("approvals", "Approvals", { type: ["ask", "deny", "allow"] }) : nothing}
        ${this.#field("model", "Model", {})} ${this.#field("timeoutSeconds", "Time limit in seconds", { type: "number" })}
        ${outputStrategies.length > 1 ? this.#field("output", "Output", { type: outputStrategies }) : nothing}
        ${this.#values["output"] === "file" ? this.#field("outputPath", "Output file", {}) : nothing}
        ${this.#values["output"] === "structured" ? this.#field("outputSchema", "JSON Schema of the output", { type: "area" }) : nothing}
        ${inputs.map((input) => this.#field(input, input, { type: "area", hint: "JSON" }))}
        <details class="wide">
          <summary>More fields</summary>
          <div class="dispatch">
            ${this.#field("taskId", "Task id", { hint: "A repeated id refers to the same task." })}
            ${sessionResume === true ? this.#field("resumeToken", "Resume token", {}) : nothing}
            ${this.#field("callbackUrl", "Callback URL", { type: "url" })} ${this.#field("systemPrompt", "System prompt", { type: "area" })}
            ${this.#field("metadata", "Metadata", { type: "area", hint: "JSON object" })}
            ${this.#field("others", "Other fields of the dispatch", { type: "area", hint: "JSON object" })}
          </div>
        </details>
        <p class="actions wide">
          <button class="primary" type="submit" ?disabled=${this.#isSending}>Dispatch</button>
          ${this.#isSending ? html`<span role="status">Sending …</span>` : nothing}
        </p>
      </form>
      <bridge-dispatch-check .context=${this.context} .body=${JSON.stringify(body)}></bridge-dispatch-check>
      ${renderCode("As a command", toCurl(new URL("api/v2/dispatch", bridgeUrl).href, body), "Copy as curl")}
      ${renderCode("As TypeScript", toTypeScript(bridgeUrl.href, body), "Copy as TypeScript")}
    `;
  }

  #field(name: string, label: string, { type = "text", hint = "", list }: FieldOptions): TemplateResult {
    const value = this.#values[name] ?? "";
    const error = this.#errors.find(({ path }) => fieldOf(path) === name)?.message ?? "";
    const notes = [hint === "" ? "" : `${name}-hint`, error === "" ? "" : `${name}-error`].filter((id) => id !== "").join(" ");
    const onInput = (event: Event): void => {
      this.#values[name] = (event.target as HTMLInputElement).value;
      this.requestUpdate();
    };
    const invalid = error === "" ? nothing : "true";
    const described = notes === "" ? nothing : notes;
    return html`<div class=${type === "area" ? "wide" : ""}>
      <label for=${name}>${label}</label>
      ${
        type === "area"
          ? html`<textarea
              id=${name} rows=${name === "message" ? 5 : 3} .value=${live(value)} @input=${onInput}
              aria-invalid=${invalid} aria-describedby=${described} spellcheck=${name === "message"}
            ></textarea>`
          : typeof type === "object"
            ? html`<select id=${name} @change=${onInput} aria-invalid=${invalid} aria-describedby=${described}>
                <option value="" ?selected=${value === ""}>default</option>
                ${type.map((option) => html`<option value=${option} ?selected=${option === value}>${option}</option>`)}
              </select>`
            : html`<input
                id=${name} type=${type} .value=${live(value)} @input=${onInput} list=${list ?? nothing} autocomplete="off"
                spellcheck="false" aria-invalid=${invalid} aria-describedby=${described}
              />`
      }
      ${hint === "" ? nothing : html`<p class="hint" id="${name}-hint">${hint}</p>`}
      ${error === "" ? nothing : html`<p class="field-error" id="${name}-error">${showHidden(error)}</p>`}
    </div>`;
  }
}

const renderCode = (title: string, code: string, label: string): TemplateResult =>
  html`<details>
    <summary>${title}</summary>
    <pre tabindex="0">${showHidden(code)}</pre>
    ${copyButton(code, label)}
  </details>`;

customElements.define("bridge-new", NewTask);

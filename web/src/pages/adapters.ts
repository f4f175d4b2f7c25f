import type { Adapter } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { ApiError } from "../api.ts";
import { PageElement } from "../element.ts";
import { serverNow } from "../live/server-clock.ts";
import { ago, badge, errorNote, healthBadge } from "../parts/badges.ts";
import { codeSpans } from "../parts/code-spans.ts";
import { copyButton } from "../parts/copy-button.ts";
import { linkTo } from "../router.ts";

/** The adapters with their health, what to do about it, their capabilities and their load. */
class Adapters extends PageElement {
  #unsubscribe: () => void = () => {};

  #checking: string | null = null;
  #error: ApiError | null = null;

  override connectedCallback(): void {
    super.connectedCallback();
    this.#unsubscribe = this.context.attention.subscribe(() => this.requestUpdate());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#unsubscribe();
  }

  async #check(provider: string): Promise<void> {
    this.#checking = provider;
    this.#error = null;
    this.requestUpdate();
    const { api, attention } = this.context;
    try {
      await api.call(`/api/v2/adapters/${encodeURIComponent(provider)}/check`, { method: "POST" });
    } catch (error) {
      this.#error = error instanceof ApiError ? error : null;
    }
    this.#checking = null;
    attention.refresh();
    this.requestUpdate();
  }

  /** A link to an adapter names it in its fragment. */
  protected override firstUpdated(): void {
    void this.#scrollToAdapter();
  }

  async #scrollToAdapter(): Promise<void> {
    if (location.hash === "") return;
    await this.updateComplete;
    document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
  }

  protected override render(): TemplateResult {
    const { adapters, error, isLoaded } = this.context.attention.state;
    const now = serverNow();
    return html`
      <h1>Adapters</h1>
      ${errorNote(error ?? this.#error)} ${isLoaded ? nothing : html`<p role="status">Loading …</p>`}
      ${adapters.map((adapter) => renderAdapter(adapter, now, this.#renderCheck(adapter)))}
      <p class="hint">
        <code>BRIDGE_ADAPTERS</code> lists the adapters. Bridge logs at its start which other installed programs it could run.
      </p>
    `;
  }

  #renderCheck({ provider }: Adapter): TemplateResult | typeof nothing {
    if (!this.context.identity.scopes.includes("manage")) return nothing;
    const isChecking = this.#checking === provider;
    const text = isChecking ? "Checking …" : "Check now";
    return html`<button ?disabled=${this.#checking !== null} @click=${() => this.#check(provider)} aria-label="${text}: ${provider}">
      ${text}
    </button>`;
  }
}

function renderAdapter(
  { provider, health, capabilities, running, queued, maxConcurrent, nodes }: Adapter,
  now: number,
  check: TemplateResult | typeof nothing,
): TemplateResult {
  const { outputStrategies = [], inputs = [], ...abilities } = (capabilities ?? {}) as Record<string, unknown>;
  const able = Object.entries(abilities).filter(([, value]) => value === true);
  // The preflight often has the same sentence, with its remedy.
  const hasNews = health.detail !== null && !health.preflight.some(({ ok, detail }) => !ok && detail.includes(health.detail ?? ""));
  return html`<section class="adapter" aria-label=${provider}>
    <div class="page-head">
      <h2 id=${provider}>${provider} ${healthBadge(health.status)}</h2>
      <p class="detail">
        ${[health.connection, health.version].map((part) => (part === null ? nothing : `${part} · `))}
        ${health.checkedAt === null ? "not checked yet" : html`checked ${ago(health.checkedAt, now)}`} ${check}
      </p>
    </div>
    ${hasNews ? html`<p class="note ${health.status === "healthy" ? "info" : "warning"}">${codeSpans(health.detail ?? "")}</p>` : nothing}
    <p>
      <a href=${linkTo(`tasks?provider=${encodeURIComponent(provider)}&state=running&children=all`)}>${running} running</a> of ${maxConcurrent},
      <a href=${linkTo(`tasks?provider=${encodeURIComponent(provider)}&state=queued&children=all`)}>${queued} queued</a>
      ${nodes.length > 1 ? html`· nodes: ${nodes.join(", ")}` : nothing}
    </p>
    ${
      health.preflight.length === 0
        ? nothing
        : html`<ul class="steps">
            ${health.preflight.map(
              ({ step, ok, detail }) => html`<li>
                ${ok ? badge("completed", "✓", nameStep(step)) : badge("failed", "✕", nameStep(step))} ${codeSpans(detail)} ${ok ? nothing : renderCommands(detail)}
              </li>`,
            )}
          </ul>`
    }
    ${
      able.length === 0
        ? nothing
        : html`<p class="hint">
            ${able.map(([name]) => html`<span class="chip">${spell(name)}</span> `)}
            <span class="chip">output: ${(outputStrategies as string[]).join(", ")}</span>
            ${(inputs as string[]).length === 0 ? nothing : html`<span class="chip">input: ${(inputs as string[]).join(", ")}</span>`}
          </p>`
    }
  </section>`;
}

const stepNames: Readonly<Record<string, string>> = {
  "primary connection": "program or service",
  "secondary connection": "second choice",
  "tertiary connection": "third choice",
  "further connection": "another choice",
};

/** Names a step of the check in words of a reader: the first connection that works runs the tasks. */
const nameStep = (step: string): string => stepNames[step] ?? step;

/** Writes the name of a capability as words: `sessionResume` is `session resume`. */
const spell = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** Remedies name a command to run, such as: Run npm install -g opencode-ai, or set BRIDGE_OPENCODE_COMMAND. */
const renderCommands = (detail: string): TemplateResult[] =>
  [...detail.matchAll(/\bRun (?:`([^`]+)`|((?:npm|npx|apt-get) [^,`]+?))(?=[,`]|\.(?:\s|$))/g)].map(([, quoted = "", plain = ""]) =>
    copyButton(quoted + plain, `Copy ${quoted}${plain}`),
  );

customElements.define("bridge-adapters", Adapters);

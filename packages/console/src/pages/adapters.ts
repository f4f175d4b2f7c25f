import type { Adapter } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { type AdapterFindings, sortFindings } from "../adapter-findings.ts";
import { ApiError } from "../api.ts";
import { PageElement } from "../element.ts";
import { showHidden } from "../format.ts";
import { serverNow } from "../live/server-clock.ts";
import { ago, badge, errorNote, healthBadge, timeOf } from "../parts/badges.ts";
import { codeSpans } from "../parts/code-spans.ts";
import { copyButton } from "../parts/copy-button.ts";
import { linkTo } from "../router.ts";

/** The adapters with their health, what to do about it, their capabilities and their load. */
class Adapters extends PageElement {
  #unsubscribe: () => void = () => {};

  #checking: string | null = null;
  #error: ApiError | null = null;
  /** The fragment to whose adapter the page has scrolled. */
  #scrolledTo = "";

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

  /** A link to an adapter names it in its fragment. The adapter may be loaded later. */
  protected override updated(): void {
    if (location.hash === this.#scrolledTo) return;
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target === null) return;
    this.#scrolledTo = location.hash;
    target.scrollIntoView();
  }

  protected override render(): TemplateResult {
    const { adapters, error, isLoaded } = this.context.attention.state;
    const now = serverNow();
    const providers = new Set(adapters.map(({ provider }) => provider));
    return html`
      <h1>Adapters</h1>
      ${errorNote(error ?? this.#error)} ${isLoaded ? nothing : html`<p role="status">Loading …</p>`}
      ${adapters.map((adapter) => renderAdapter(adapter, providers, now, this.#renderCheck(adapter)))}
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
  adapter: Adapter,
  providers: ReadonlySet<string>,
  now: number,
  check: TemplateResult | typeof nothing,
): TemplateResult {
  const { provider, health, running, queued, maxConcurrent, nodes } = adapter;
  const { note, remedies, faults, runtimes, others } = sortFindings(adapter, providers);
  return html`<section class="adapter" aria-label=${provider}>
    <div class="page-head">
      <h2 id=${provider}>${provider} ${healthBadge(health.status)}</h2>
      <p class="detail">${health.checkedAt === null ? "not checked yet" : html`checked ${ago(health.checkedAt, now)}`} ${check}</p>
    </div>
    ${renderProgram(health)}
    ${renderCooldown(adapter, now)}
    ${note === null ? nothing : html`<p class="note ${health.status === "healthy" ? "info" : "warning"}">${renderRemedy(note)}</p>`}
    ${remedies.length === 0 ? nothing : renderRemedies(remedies)}
    ${faults.map(({ step, detail }) => html`<p class="note warning"><strong>${step}</strong> ${renderRemedy(detail)}</p>`)}
    ${runtimes.length === 0 ? nothing : html`<ul class="steps">${runtimes.map(renderRuntime)}</ul>`}
    <p>
      <a href=${linkTo(`tasks?provider=${encodeURIComponent(provider)}&state=running&children=all`)}>${running} running</a> of ${maxConcurrent},
      <a href=${linkTo(`tasks?provider=${encodeURIComponent(provider)}&state=queued&children=all`)}>${queued} queued</a>
      ${nodes.length > 1 ? html`· nodes: ${nodes.join(", ")}` : nothing}
    </p>
    ${renderCapabilities(adapter)} ${others.length === 0 ? nothing : renderOthers(others)}
  </section>`;
}

/** Shows until when tasks that may run elsewhere avoid the adapter, and why. */
function renderCooldown({ cooldownUntil, cooldownReason }: Adapter, now: number): TemplateResult | typeof nothing {
  if (cooldownUntil === null) return nothing;
  return html`<p class="note warning">
    <strong>cooling down</strong> until ${timeOf(cooldownUntil, now)}: ${codeSpans(cooldownReason ?? "")}
  </p>`;
}

/** Names the program or the server that tasks use, its version, and the connection to it. */
function renderProgram({ path = null, version, connection }: Adapter["health"]): TemplateResult | typeof nothing {
  if (connection === null) return nothing;
  const parts = [...(version === null ? [] : [version]), `connection ${connection}`];
  return html`<p>${path === null ? nothing : html`<code>${showHidden(path)}</code> <span class="detail">·</span> `}<span class="detail">${parts.join(" · ")}</span></p>`;
}

const renderRemedies = (remedies: readonly string[]): TemplateResult => html`<div class="note warning">
  ${remedies.length > 1 ? html`<p>One of these is enough:</p>` : nothing}
  <ul class="remedies">
    ${remedies.map((remedy) => html`<li>${renderRemedy(remedy)}</li>`)}
  </ul>
</div>`;

const renderRuntime = ({ provider, ok, detail }: AdapterFindings["runtimes"][number]): TemplateResult => html`<li>
  ${ok ? badge("completed", "✓", provider) : badge("failed", "✕", provider)}
  ${detail === null ? html`<a href=${linkTo(`adapters#${encodeURIComponent(provider)}`)}>See why ${provider} is offline</a>` : codeSpans(detail)}
</li>`;

/** The steps without a fault are closed. */
const renderOthers = (others: AdapterFindings["others"]): TemplateResult => html`<details>
  <summary>Details of the check</summary>
  <dl class="check-facts">
    ${others.map(({ step, ok, detail }) => html`<div><dt>${step}${ok ? nothing : " (not used)"}</dt><dd>${renderRemedy(detail)}</dd></div>`)}
  </dl>
</details>`;

function renderCapabilities({ capabilities }: Adapter): TemplateResult | typeof nothing {
  const { outputStrategies = [], inputs = [], ...abilities } = (capabilities ?? {}) as Record<string, unknown>;
  const able = Object.entries(abilities).filter(([, value]) => value === true);
  if (able.length === 0) return nothing;
  return html`<p class="hint">
    ${able.map(([name]) => html`<span class="chip">${spell(name)}</span> `)}
    <span class="chip">output: ${(outputStrategies as string[]).join(", ")}</span>
    ${(inputs as string[]).length === 0 ? nothing : html`<span class="chip">input: ${(inputs as string[]).join(", ")}</span>`}
  </p>`;
}

/** Writes the name of a capability as words: `sessionResume` is `session resume`. */
const spell = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** A remedy can name a command to run, such as: Run npm install -g opencode-ai, or set BRIDGE_OPENCODE_COMMAND. */
const commandPattern = /(?<=\bRun )(?:`[^`]+`|(?:npm|npx|apt-get) [^,`]+?)(?=[,`]|\.(?:\s|$)|$)/;

/** Shows a remedy, and a button that copies the command in it. */
function renderRemedy(detail: string): TemplateResult {
  const [found] = commandPattern.exec(detail) ?? [];
  if (found === undefined) return html`${codeSpans(detail)}`;
  const command = found.replaceAll("`", "");
  const [before = "", ...after] = detail.split(found);
  return html`${codeSpans(before)}<code>${showHidden(command)}</code> ${copyButton(command)}${codeSpans(after.join(found))}`;
}

customElements.define("bridge-adapters", Adapters);

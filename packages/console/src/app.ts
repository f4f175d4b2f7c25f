import { html, nothing, type TemplateResult } from "lit";
import { keyed } from "lit/directives/keyed.js";
import {
  Bell,
  ChartNoAxesColumn,
  CircleCheckBig,
  type IconNode,
  LayoutDashboard,
  ListChecks,
  LogOut,
  Menu,
  Plug,
  Plus,
  Search,
  Send,
} from "lucide";
import { BridgeElement, type PageElement, TASK_TITLE } from "./element.ts";
import { formatUpTo, showHidden } from "./format.ts";
import "./pages/approvals.ts";
import "./pages/overview.ts";
import "./pages/sign-in.ts";
import "./pages/task.ts";
import "./pages/tasks.ts";
import { icon } from "./parts/icon.ts";
import { logo } from "./parts/logo.ts";
import "./parts/command-menu.ts";
import type { Command, CommandMenu } from "./parts/command-menu.ts";
import { createTabSignals } from "./parts/tab-signals.ts";
import { currentRoute, findClickedPage, linkTo, navigate, type PageName } from "./router.ts";
import { type ConsoleContext, createSession, type SessionState } from "./session.ts";
import { builtInViews } from "./task-views.ts";

const titles: Readonly<Record<PageName, string>> = {
  overview: "Overview",
  tasks: "Tasks",
  task: "Task",
  new: "New task",
  approvals: "Approvals",
  callbacks: "Callbacks",
  webhooks: "Webhooks",
  adapters: "Adapters",
  usage: "Usage",
  missing: "Not found",
};

/** Pages whose code is loaded when they are first opened. */
const loadCode: Partial<Record<PageName, () => Promise<unknown>>> = {
  new: () => import("./pages/new.ts"),
  callbacks: () => import("./pages/callbacks.ts"),
  webhooks: () => import("./pages/webhooks.ts"),
  adapters: () => import("./pages/adapters.ts"),
  usage: () => import("./pages/usage.ts"),
};

/** Links on every page. */
const navigation: readonly { page: PageName; path: string; sign: IconNode }[] = [
  { page: "overview", path: "", sign: LayoutDashboard },
  { page: "tasks", path: "tasks", sign: ListChecks },
  { page: "approvals", path: "approvals", sign: CircleCheckBig },
  { page: "callbacks", path: "callbacks", sign: Send },
  { page: "webhooks", path: "webhooks", sign: Bell },
  { page: "adapters", path: "adapters", sign: Plug },
  { page: "usage", path: "usage", sign: ChartNoAxesColumn },
];

/** The console: the sign-in, or the navigation and one page. */
class App extends BridgeElement {
  #session = createSession(() => this.#onSession());
  #signals = createTabSignals();
  #route = currentRoute();
  /** The title of the task whose page is open. */
  #taskTitle = this.#route.id;
  /** The page whose code could not be loaded, for example because Bridge was upgraded since the console was opened. */
  #unloaded: PageName | null = null;
  #unsubscribe: () => void = () => {};
  /** Whether the navigation is open on a narrow screen, where a button opens it. */
  #isNavigationOpen = false;

  override connectedCallback(): void {
    super.connectedCallback();
    // A browser restores the scroll position by itself, but the page is not rendered yet at that time.
    addEventListener("popstate", () => this.#onRoute());
    // A link that is opened in a tab of the console changes only the fragment of the address.
    addEventListener("hashchange", () => this.#session.followLink());
    this.addEventListener(TASK_TITLE, (event) => {
      this.#taskTitle = (event as CustomEvent<string>).detail;
      this.#onAttention();
    });
    addEventListener("click", (event) => this.#onClick(event));
    addEventListener("keydown", (event) => this.#onKey(event));
    this.#session.resume();
  }

  #onSession(): void {
    const { state } = this.#session;
    this.#unsubscribe();
    this.#signals.reset();
    this.#unsubscribe = state.kind === "signed-in" ? state.context.attention.subscribe(() => this.#onAttention()) : () => {};
    if (state.kind !== "signed-in") this.#signals.update("Sign in", { approvals: [], hasMoreApprovals: false });
    else this.#onAttention();
    this.requestUpdate();
  }

  #onAttention(): void {
    const { state } = this.#session;
    if (state.kind !== "signed-in") return;
    const title = this.#route.page === "task" ? this.#taskTitle : titles[this.#route.page];
    this.#signals.update(title, state.context.attention.state);
    this.requestUpdate();
  }

  #onRoute(): void {
    this.#session.followLink();
    const before = this.#route;
    this.#route = currentRoute();
    this.#isNavigationOpen = false;
    if (before.id !== this.#route.id) this.#taskTitle = this.#route.id;
    this.#onAttention();
    if (before.page === this.#route.page && before.id === this.#route.id) return;
    scrollTo(0, 0);
    void this.updateComplete.then(() => this.querySelector<HTMLElement>("main")?.focus({ preventScroll: true }));
  }

  #onClick(event: MouseEvent): void {
    const url = findClickedPage(event);
    if (url === null || this.#session.state.kind !== "signed-in") return;
    event.preventDefault();
    navigate(url);
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key === "k" && (event.ctrlKey || event.metaKey) && document.querySelector("dialog[open]") === null) {
      event.preventDefault();
      this.#openMenu();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
    const help = this.querySelector<HTMLDialogElement>("dialog.help");
    if (event.key === "?" && help !== null) {
      event.preventDefault();
      if (help.open) help.close();
      else help.showModal();
      return;
    }
    if (document.querySelector("dialog[open]") !== null) return;
    if (this.querySelector<PageElement>("[data-page]")?.onKey(event.key, event) === true) event.preventDefault();
  }

  protected override render(): TemplateResult {
    const { state } = this.#session;
    switch (state.kind) {
      case "signed-out":
        return html`<bridge-sign-in
          .reason=${state.reason}
          .onSignIn=${(token: string, options: { remember: boolean }) => this.#session.signIn(token, options)}
        ></bridge-sign-in>`;
      case "checking":
        return html`<main class="sign-in"><p role="status">Signing in …</p></main>`;
      case "unreachable":
        return html`<main class="sign-in">
          <h1>Bridge</h1>
          <p class="note error" role="alert">${showHidden(state.detail)}</p>
          <p role="status">Trying again …</p>
          <button @click=${() => this.#session.signOut()}>Sign out</button>
        </main>`;
      case "confirming":
        return renderConfirmation(state);
      case "signed-in":
        return this.#renderSignedIn(state.context);
    }
  }

  #renderSignedIn(context: ConsoleContext): TemplateResult {
    const { identity, version, attention } = context;
    const { page, id } = this.#route;
    return html`
      <a class="skip" href="#main" @click=${(event: Event) => this.#skip(event)}>Skip to the content</a>
      <header class="shell">
        <a class="brand" href=${linkTo("")}>${logo} Bridge</a>
        <a class="button primary new" href=${linkTo("new")} aria-current=${page === "new" ? "page" : nothing}
          >${icon(Plus)}<span>New task</span></a
        >
        <button class="find" @click=${() => this.#openMenu()} aria-keyshortcuts="Control+K Meta+K">
          ${icon(Search)}<span>Search</span><kbd aria-hidden="true">Ctrl K</kbd>
        </button>
        ${
          !isConnectionLost(attention.state.error)
            ? html`<span class="connection" role="status">live</span>`
            : html`<span class="connection lost" role="status">reconnecting …</span>`
        }
        ${this.#renderMenuButton(context)}
        <div id="navigation" class=${this.#isNavigationOpen ? "open" : ""} @keydown=${this.#onNavigationKey} @focusout=${this.#onNavigationBlur}>
        <nav aria-label="Pages">${navigation.map((link) => this.#renderLink(link, context))}</nav>
        <div class="who">
          <dl>
            <div><dt>Token</dt><dd>${identity.name}</dd></div>
            <div><dt>Tenant</dt><dd>${identity.tenant}</dd></div>
            <div><dt>Version</dt><dd>${version}</dd></div>
          </dl>
          <button class="plain" title="${identity.name}, tenant ${identity.tenant}" @click=${() => this.#session.signOut()}>${icon(LogOut)} Sign out</button>
        </div>
        </div>
      </header>
      <main id="main" tabindex="-1">${keyed(`${page}/${id}`, this.#renderPage(context))}</main>
      <bridge-command-menu .context=${context} .commands=${this.#listCommands(context)}></bridge-command-menu>
      ${renderHelp(page)}
    `;
  }

  #openMenu(): void {
    this.querySelector<CommandMenu>("bridge-command-menu")?.open();
  }

  #listCommands({ attention }: ConsoleContext): Command[] {
    const toPage = (name: string, path: string, kind = "page"): Command => ({ name, kind, run: () => navigate(linkTo(path)) });
    return [
      ...navigation.map(({ page, path }) => toPage(titles[page], path)),
      toPage("New task", "new", "action"),
      ...builtInViews.slice(1).map((view) => toPage(view.name, `tasks?${view.query}`, "view of tasks")),
      toPage("Failed tasks", "tasks?state=failed", "view"),
      { name: "Show the keys", kind: "action", run: () => this.querySelector<HTMLDialogElement>("dialog.help")?.showModal() },
      { name: "Sign out", kind: "action", run: () => this.#session.signOut() },
      ...attention.state.adapters.map(({ provider }) =>
        toPage(provider, `tasks?provider=${encodeURIComponent(provider)}`, "tasks of adapter"),
      ),
    ];
  }

  /** The button that opens the navigation on a narrow screen. Its badge sums up those of the pages. */
  #renderMenuButton({ attention }: ConsoleContext): TemplateResult {
    const { approvals, hasMoreApprovals, faults } = attention.state;
    const sum = formatUpTo(approvals.length + faults.counts.callback + faults.counts.delivery, hasMoreApprovals);
    return html`<button
      class="pages" aria-expanded=${this.#isNavigationOpen} aria-controls="navigation"
      @click=${() => this.#setNavigationOpen(!this.#isNavigationOpen)} @keydown=${this.#onNavigationKey}
      >${icon(Menu)}<span class="visually-hidden">Pages</span>${
        sum === "0" ? nothing : html` <span class="count">${sum}<span class="visually-hidden"> to look at</span></span>`
      }</button
    >`;
  }

  #setNavigationOpen(isOpen: boolean): void {
    this.#isNavigationOpen = isOpen;
    this.requestUpdate();
    const target = isOpen ? "#navigation a" : "button.pages";
    void this.updateComplete.then(() => this.querySelector<HTMLElement>(target)?.focus());
  }

  #onNavigationKey = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && this.#isNavigationOpen) this.#setNavigationOpen(false);
  };

  #onNavigationBlur = (event: FocusEvent): void => {
    const next = event.relatedTarget as Element | null;
    if (!this.#isNavigationOpen || next === null || next.closest("#navigation, button.pages") !== null) return;
    this.#isNavigationOpen = false;
    this.requestUpdate();
  };

  #renderLink({ page, path, sign }: (typeof navigation)[number], { attention }: ConsoleContext): TemplateResult {
    const { approvals, hasMoreApprovals, faults } = attention.state;
    const counts: Partial<Record<PageName, string>> = {
      approvals: formatUpTo(approvals.length, hasMoreApprovals),
      callbacks: String(faults.counts.callback),
      webhooks: String(faults.counts.delivery),
    };
    const count = counts[page] ?? "0";
    const current = this.#route.page === page || (this.#route.page === "task" && page === "tasks");
    return html`<a href=${linkTo(path)} aria-current=${current ? "page" : nothing}
      >${icon(sign)} ${titles[page]}${count === "0" ? nothing : html` <span class="count">${count}</span>`}</a
    >`;
  }

  async #loadPage(page: PageName): Promise<void> {
    try {
      await loadCode[page]?.();
    } catch {
      this.#unloaded = page;
    }
    this.requestUpdate();
  }

  #renderPage(context: ConsoleContext): TemplateResult {
    const route = this.#route;
    if (this.#unloaded === route.page) {
      return html`<h1>${titles[route.page]}</h1>
        <p class="note error" role="alert">Bridge did not answer, or it was upgraded. <button @click=${() => location.reload()}>Load again</button></p>`;
    }
    // An element whose code comes later connects without its properties.
    if (loadCode[route.page] !== undefined && customElements.get(`bridge-${route.page}`) === undefined) {
      void this.#loadPage(route.page);
      return html`<p role="status">Loading …</p>`;
    }
    switch (route.page) {
      case "overview":
        return html`<bridge-overview data-page .context=${context} .route=${route}></bridge-overview>`;
      case "new":
        return html`<bridge-new data-page .context=${context} .route=${route}></bridge-new>`;
      case "approvals":
        return html`<bridge-approvals data-page .context=${context} .route=${route}></bridge-approvals>`;
      case "callbacks":
        return html`<bridge-callbacks data-page .context=${context} .route=${route}></bridge-callbacks>`;
      case "webhooks":
        return html`<bridge-webhooks data-page .context=${context} .route=${route}></bridge-webhooks>`;
      case "adapters":
        return html`<bridge-adapters data-page .context=${context} .route=${route}></bridge-adapters>`;
      case "usage":
        return html`<bridge-usage data-page .context=${context} .route=${route}></bridge-usage>`;
      case "tasks":
        return html`<bridge-tasks data-page .context=${context} .route=${route}></bridge-tasks>`;
      case "task":
        return html`<bridge-task data-page .context=${context} .route=${route}></bridge-task>`;
      default:
        return html`<h1>Not found</h1>
          <p>The console has no such page. <a href=${linkTo("")}>Overview</a></p>`;
    }
  }

  #skip(event: Event): void {
    event.preventDefault();
    this.querySelector<HTMLElement>("#main")?.focus();
  }
}

const renderConfirmation = ({ present, offered, accept, decline }: Extract<SessionState, { kind: "confirming" }>): TemplateResult => html`
  <main class="sign-in">
    <h1>Bridge</h1>
    <p role="alert">
      You are signed in as ${present.name} (tenant ${present.tenant}). Sign in as ${offered.name} (tenant ${offered.tenant})?
    </p>
    <p class="hint">Continue only if you created this link or expected it.</p>
    <button class="primary" @click=${decline}>Stay signed in as ${present.name}</button>
    <button @click=${accept}>Sign in as ${offered.name}</button>
  </main>
`;

/** A rejected request, for example because the token lacks a scope, is not a lost connection. */
const isConnectionLost = (error: { status: number } | null): boolean => error !== null && (error.status === 0 || error.status >= 500);

function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return target instanceof HTMLElement && target.matches("input:not([type=checkbox]), textarea, select, [contenteditable]");
}

/** The keys, with the pages on which they work; without any, on all. */
const shortcuts: readonly (readonly [keys: string, meaning: string, ...pages: PageName[]])[] = [
  ["Ctrl-K", "search or jump to"],
  ["/", "search or filter", "tasks"],
  ["/", "go to the first field", "new"],
  ["j, k", "next or previous row", "overview", "tasks", "callbacks", "webhooks", "usage"],
  ["j, k", "next or previous tool call", "approvals"],
  ["Enter", "open the row", "overview", "tasks", "callbacks", "webhooks", "usage"],
  ["x", "select the row", "tasks"],
  ["a a, r r", "approve or reject the selected tool call", "approvals"],
  ["Ctrl-Enter", "dispatch the task from its message", "new"],
  ["?", "this help"],
];

const renderHelp = (page: PageName): TemplateResult => html`
  <dialog class="help" aria-labelledby="help-title">
    <h2 id="help-title">Keys</h2>
    <dl>${shortcuts.filter(([, , ...pages]) => pages.length === 0 || pages.includes(page)).map(([keys, meaning]) => html`<dt><kbd>${keys}</kbd></dt><dd>${meaning}</dd>`)}</dl>
    <form method="dialog" @submit=${closeDialog}><button>Close</button></form>
  </dialog>
`;

/** The policy of the page forbids forms to submit, also to dialogs. */
function closeDialog(event: SubmitEvent): void {
  event.preventDefault();
  (event.target as HTMLElement).closest("dialog")?.close();
}

customElements.define("bridge-app", App);

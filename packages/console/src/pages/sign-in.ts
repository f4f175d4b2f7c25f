import { html, nothing, type TemplateResult } from "lit";
import { BridgeElement } from "../element.ts";
import { showHidden } from "../format.ts";

/** Asks for a token. */
class SignIn extends BridgeElement {
  static override properties = { reason: { attribute: false }, onSignIn: { attribute: false } };
  /** Why the last session ended; null if there was none. */
  declare reason: string | null;
  declare onSignIn: (token: string, options: { remember: boolean }) => void;

  #submit(event: SubmitEvent): void {
    event.preventDefault();
    const data = new FormData(event.target as HTMLFormElement);
    const token = String(data.get("token") ?? "").trim();
    if (token !== "") this.onSignIn(token, { remember: data.get("remember") === "on" });
  }

  protected override firstUpdated(): void {
    this.querySelector<HTMLInputElement>("#token")?.focus();
  }

  protected override render(): TemplateResult {
    return html`
      <main class="sign-in">
        <h1>Bridge</h1>
        ${this.reason === null ? nothing : html`<p class="note error" role="alert">${showHidden(this.reason)}</p>`}
        <form @submit=${this.#submit}>
          <label for="token">Token</label>
          <input
            id="token" name="token" type="password" autocomplete="off" spellcheck="false" required
            pattern="[!-~]+" title="A token without spaces" aria-describedby="token-help"
          />
          <p class="hint" id="token-help">On the host of Bridge: <code>cat data/token</code>, unless the operator configured tokens.</p>
          <label class="check"><input name="remember" type="checkbox" /> Remember in this browser</label>
          <p class="hint">Otherwise the token stays in this tab until you close it.</p>
          <button class="primary" type="submit">Sign in</button>
        </form>
      </main>
    `;
  }
}

customElements.define("bridge-sign-in", SignIn);

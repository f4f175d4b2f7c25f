import { LitElement } from "lit";
import type { Route } from "./router.ts";
import type { ConsoleContext } from "./session.ts";

/** An element that paints at most once per frame. It renders into the document itself, where the one style sheet applies. */
export abstract class BridgeElement extends LitElement {
  /** Minimum time between two paints. Tables with many changes set it. */
  protected paintGapMs = 0;
  #paintedAt = Number.NEGATIVE_INFINITY;

  protected override createRenderRoot(): this {
    return this;
  }

  protected override async scheduleUpdate(): Promise<void> {
    const waitMs = this.#paintedAt + this.paintGapMs - performance.now();
    if (this.hasUpdated && waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    if (this.hasUpdated) await new Promise(requestAnimationFrame);
    this.#paintedAt = performance.now();
    await super.scheduleUpdate();
  }
}

/** A page of the console. */
export abstract class PageElement extends BridgeElement {
  static override properties = { context: { attribute: false }, route: { attribute: false } };
  declare context: ConsoleContext;
  declare route: Route;

  /** Handles a key that was pressed outside of a field. Returns whether the page used it. */
  onKey(_key: string): boolean {
    return false;
  }
}

import { LitElement } from "lit";
import type { Route } from "./router.ts";
import type { ConsoleContext } from "./session.ts";

/** An element that renders into the document itself, where the one style sheet applies. Within a page, it paints with the page. */
export abstract class BridgeElement extends LitElement {
  protected override createRenderRoot(): this {
    return this;
  }
}

/** The event by which the page of a task gives its title to the tab. */
export const TASK_TITLE = "bridge-task-title";

/** A page of the console. It paints at most once per frame. */
export abstract class PageElement extends BridgeElement {
  static override properties = { context: { attribute: false }, route: { attribute: false } };
  declare context: ConsoleContext;
  declare route: Route;
  #paintedAt = Number.NEGATIVE_INFINITY;

  /** Minimum time between two paints. Pages with many changes have one. */
  protected get paintGapMs(): number {
    return 0;
  }

  /** Handles a key that was pressed outside of a field, or that is held down there. Returns whether the page used it. */
  onKey(_key: string, _event: { repeat: boolean }): boolean {
    return false;
  }

  protected override async scheduleUpdate(): Promise<void> {
    const waitMs = this.#paintedAt + this.paintGapMs - performance.now();
    if (this.hasUpdated && waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    if (this.hasUpdated) await new Promise(requestAnimationFrame);
    this.#paintedAt = performance.now();
    await super.scheduleUpdate();
  }
}

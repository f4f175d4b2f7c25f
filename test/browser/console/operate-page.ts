import type { Locator, Page } from "playwright-core";

/** How a person operates a page. */
export interface Hands {
  /** Opens a link, or presses a button. */
  activate(target: Locator): Promise<void>;
  /** Enters a text in an empty field. */
  enter(target: Locator, text: string): Promise<void>;
  /** Selects an option. */
  choose(target: Locator, option: string): Promise<void>;
}

/** Operates a page with a mouse. */
export const useMouse = (): Hands => ({
  activate: (target) => target.click(),
  enter: (target, text) => target.fill(text),
  choose: async (target, option) => void (await target.selectOption(option)),
});

/** More than any page has. */
const MAX_STOPS = 150;

/** Operates a page with a keyboard alone: the Tab key moves the focus to each element. */
export function useKeyboard(page: Page): Hands {
  async function reach(target: Locator): Promise<void> {
    await target.waitFor();
    const focused = target.and(page.locator(":focus"));
    for (let stops = 0; stops < MAX_STOPS; stops += 1) {
      if ((await focused.count()) === 1) return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`The Tab key does not reach ${target}.`);
  }
  return {
    async activate(target) {
      await reach(target);
      await page.keyboard.press("Enter");
    },
    async enter(target, text) {
      await reach(target);
      await page.keyboard.insertText(text);
    },
    async choose(target, option) {
      await reach(target);
      await page.keyboard.type(option);
    },
  };
}

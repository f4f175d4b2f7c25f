const STORED_CHOICE = "bridge.plain-text";

const listeners = new Set<() => void>();

/** Whether the person wants to see texts of agents without their format. The browser keeps the choice. */
export const plainText = {
  get isOn(): boolean {
    return localStorage.getItem(STORED_CHOICE) !== null;
  },
  /** Reverses the choice, and calls the listeners. */
  toggle(): void {
    if (plainText.isOn) localStorage.removeItem(STORED_CHOICE);
    else localStorage.setItem(STORED_CHOICE, "on");
    for (const listener of listeners) listener();
  },
  /** Calls the listener after each change. The returned function ends this. */
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

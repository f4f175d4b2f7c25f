/**
 * Opens the first link of a row when a person clicks between its links and controls. Clicks that select text open nothing. The keys that
 * are held down, such as Ctrl for a new tab, apply to the link.
 */
export function openRow(event: MouseEvent): void {
  const { target, ctrlKey, metaKey, shiftKey } = event;
  if (!(target instanceof Element) || target.closest("a, button, input, label, select, summary") !== null) return;
  if (getSelection()?.isCollapsed === false) return;
  const link = target.closest("li, [role=row]")?.querySelector("a[href]");
  link?.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, composed: true, ctrlKey, metaKey, shiftKey }));
}

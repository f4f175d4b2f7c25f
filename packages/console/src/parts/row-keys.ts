/** Moves the focus to the next or the previous of some links with the keys j and k. Returns whether the key was one of them. */
export function moveFocus(links: readonly HTMLElement[], key: string): boolean {
  if ((key !== "j" && key !== "k") || links.length === 0) return false;
  const index = links.indexOf(document.activeElement as HTMLElement);
  links[Math.min(links.length - 1, Math.max(0, index + (key === "j" ? 1 : -1)))]?.focus();
  return true;
}

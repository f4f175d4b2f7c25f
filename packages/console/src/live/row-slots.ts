/**
 * Assigns a slot to each visible row. Rows that stay keep their slot. After a scroll, a row that entered the window takes the slot of one
 * that left it, and with it the element, because changing the texts of elements is several times as fast as replacing the elements.
 * Otherwise a new row takes a new slot: a person may be about to click, and must not reach another task.
 */
export function assignSlots(before: ReadonlyMap<string, number>, ids: readonly string[], hasScrolled: boolean): Map<string, number> {
  const visible = new Set(ids);
  const left = [...before].filter(([id]) => !visible.has(id)).map(([, slot]) => slot);
  // While most rows stay, it is faster to replace the few others than to move the elements that stay.
  const free = hasScrolled && 2 * left.length >= before.size ? left : [];
  let next = Math.max(-1, ...before.values()) + 1;
  const nextSlot = (): number => {
    next += 1;
    return next - 1;
  };
  return new Map(ids.map((id) => [id, before.get(id) ?? free.shift() ?? nextSlot()]));
}

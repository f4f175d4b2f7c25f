/**
 * Assigns a slot to each visible row, so that the element of a row that left the window shows one that entered it: when a person scrolls
 * far, changing the texts of elements is several times as fast as replacing the elements. Rows that stay keep their slot.
 */
export function assignSlots(before: ReadonlyMap<string, number>, ids: readonly string[]): Map<string, number> {
  const visible = new Set(ids);
  const left = [...before].filter(([id]) => !visible.has(id)).map(([, slot]) => slot);
  // While most rows stay, such as when a task starts, it is faster to replace the few others than to move the elements that stay.
  const free = 2 * left.length < before.size ? [] : left;
  let next = Math.max(-1, ...before.values()) + 1;
  const nextSlot = (): number => {
    next += 1;
    return next - 1;
  };
  return new Map(ids.map((id) => [id, before.get(id) ?? free.shift() ?? nextSlot()]));
}

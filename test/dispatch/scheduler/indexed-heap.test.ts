import fc from "fast-check";
import { expect, test } from "vitest";
import { createIndexedHeap, type HeapItem } from "../../../src/dispatch/scheduler/indexed-heap.ts";

test("the first item of a heap is always the smallest one", () => {
  const action = fc.record({ item: fc.nat(20), key: fc.option(fc.nat(50), { nil: null }) });
  fc.assert(
    fc.property(fc.array(action, { maxLength: 200 }), (actions) => {
      const items = Array.from({ length: 21 }, (): HeapItem & { key: number } => ({ heapIndex: -1, key: 0 }));
      const heap = createIndexedHeap<HeapItem & { key: number }>((left, right) => left.key < right.key);
      const inside = new Set<HeapItem & { key: number }>();
      for (const { item: index, key } of actions) {
        const item = items[index] as HeapItem & { key: number };
        if (key === null) {
          heap.remove(item);
          inside.delete(item);
        } else {
          item.key = key;
          heap.put(item);
          inside.add(item);
        }
        expect(items.filter(({ heapIndex }) => heapIndex !== -1)).toHaveLength(inside.size);
        expect(heap.first()?.key).toBe(inside.size === 0 ? undefined : Math.min(...[...inside].map((one) => one.key)));
      }
    }),
  );
});

/** Something that can be in one heap. */
export interface HeapItem {
  /** Index in the heap; -1 while it is not in one. Written by the heap alone. */
  heapIndex: number;
}

/** Items in an order that may change, with the first one at hand. Every change takes a time that grows with the logarithm of the size. */
export interface IndexedHeap<Item> {
  first(): Item | undefined;
  /** Inserts the item, or moves it to its new position after its key has changed. */
  put(item: Item): void;
  /** Does nothing when the item is not in the heap. */
  remove(item: Item): void;
}

/** Creates a binary heap. The key of one item at a time may change, and `put` must follow at once. */
export function createIndexedHeap<Item extends HeapItem>(isBefore: (left: Item, right: Item) => boolean): IndexedHeap<Item> {
  const items: Item[] = [];

  function set(item: Item, index: number): void {
    items[index] = item;
    item.heapIndex = index;
  }

  function rise(item: Item): void {
    let index = item.heapIndex;
    while (index > 0) {
      const parent = items[(index - 1) >> 1] as Item;
      if (!isBefore(item, parent)) break;
      const parentIndex = parent.heapIndex;
      set(parent, index);
      index = parentIndex;
    }
    set(item, index);
  }

  function sink(item: Item): void {
    let index = item.heapIndex;
    for (;;) {
      const left = items[2 * index + 1];
      if (left === undefined) break;
      const right = items[2 * index + 2];
      const child = right !== undefined && isBefore(right, left) ? right : left;
      if (!isBefore(child, item)) break;
      const childIndex = child.heapIndex;
      set(child, index);
      index = childIndex;
    }
    set(item, index);
  }

  return {
    first: () => items[0],
    put(item) {
      if (item.heapIndex === -1) set(item, items.length);
      rise(item);
      sink(item);
    },
    remove(item) {
      const index = item.heapIndex;
      if (index === -1) return;
      item.heapIndex = -1;
      const last = items.pop() as Item;
      if (last === item) return;
      set(last, index);
      rise(last);
      sink(last);
    },
  };
}

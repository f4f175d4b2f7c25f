/** An item that can be in one heap. */
export interface HeapItem {
  /** Index in the heap; -1 while the item is not in one. Only the heap writes it. */
  heapIndex: number;
}

/** A priority queue whose items can change their priority. Each change takes O(log n). */
export interface IndexedHeap<Item> {
  first(): Item | undefined;
  /** Inserts the item, or moves it to its new position after its key has changed. */
  put(item: Item): void;
  /** Does nothing if the item is not in the heap. */
  remove(item: Item): void;
}

/** Creates a binary heap. Only the key of one item may change at a time, and `put` must follow before any other call. */
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

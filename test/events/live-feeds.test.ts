import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { EventType } from "../../src/contract/index.ts";
import { createLogFeed, createTaskFeed, type EventStore, type StoredEvent } from "../../src/events/event-feed.ts";
import { createLiveFeeds } from "../../src/events/live-feeds.ts";

const store = {} as EventStore;
const raise = (error: unknown): never => {
  throw error;
};

const seqOf = (tenant: string, taskId: string): number => 10 * tenant.length + taskId.length;

function newEvent(number: number, tenant: string, taskId: string, type: EventType = "execution.progress", agentId = "agent"): StoredEvent {
  return {
    number,
    task: { seq: seqOf(tenant, taskId), tenant, taskId, parentTaskId: null, agentId, provider: "p" },
    type,
    at: 0,
    data: "{}",
  };
}

test("each listener receives the matching events of each commit, in order", () => {
  const name = fc.constantFrom("a", "bb");
  const type = fc.constantFrom<EventType>("execution.progress", "tool.invoked", "callback.delivered");
  const event = fc.tuple(name, name, type, name);
  const filter = fc.record(
    { taskId: name, agentId: name, types: fc.subarray<EventType>(["execution.progress", "tool.invoked"], { minLength: 1 }) },
    { requiredKeys: [] },
  );
  const feed = fc.oneof(
    fc.tuple(name, filter).map(([tenant, rest]) => createLogFeed(store, { tenant, ...rest })),
    fc.tuple(name, name).map(([tenant, taskId]) => createTaskFeed(store, { seq: seqOf(tenant, taskId), tenant, taskId })),
  );
  fc.assert(
    fc.property(
      fc.array(feed, { maxLength: 8 }),
      fc.array(fc.array(event, { minLength: 1, maxLength: 6 }), { maxLength: 4 }),
      (feeds, commits) => {
        const liveFeeds = createLiveFeeds(raise);
        const received = feeds.map((one) => {
          const events: StoredEvent[] = [];
          liveFeeds.follow(one, (more) => void events.push(...more));
          return events;
        });
        const published = commits.map((commit) => commit.map((fields, index) => newEvent(index, ...fields)));
        for (const commit of published) liveFeeds.publish(commit);
        expect(received).toEqual(feeds.map(({ matches }) => published.flat().filter((one) => matches(one))));
      },
    ),
  );
});

test("listeners of the same events receive the same array, also through different feeds", () => {
  const liveFeeds = createLiveFeeds(raise);
  const arrays: (readonly StoredEvent[])[] = [];
  const types: EventType[] = ["tool.invoked", "execution.progress"];
  for (const feed of [
    createLogFeed(store, { tenant: "a" }),
    createLogFeed(store, { tenant: "a", taskId: "t" }),
    createTaskFeed(store, { seq: seqOf("a", "t"), tenant: "a", taskId: "t" }),
    createLogFeed(store, { tenant: "a", types }),
    createLogFeed(store, { tenant: "a", types: types.toReversed() }),
  ])
    liveFeeds.follow(feed, (events) => void arrays.push(events));
  liveFeeds.publish([newEvent(1, "a", "t"), newEvent(2, "a", "t", "tool.invoked")]);
  expect([arrays.length, new Set(arrays).size]).toEqual([5, 1]);
  arrays.length = 0;
  liveFeeds.publish([newEvent(3, "a", "t"), newEvent(4, "a", "t", "execution.completed")]);
  const filtered = arrays.filter(({ length }) => length === 1);
  expect([arrays.length, filtered.length, new Set(arrays).size]).toEqual([5, 2, 2]);
});

test("feeds with the same types in another order or twice have the same key", () => {
  const keyOf = (...types: EventType[]): string => createLogFeed({} as EventStore, { tenant: "default", types }).key;
  expect(keyOf("tool.invoked", "assistant.text", "tool.invoked")).toBe(keyOf("assistant.text", "tool.invoked"));
  expect(keyOf("tool.invoked")).not.toBe(keyOf("assistant.text"));
});

test("a commit examines only feeds of its tenants and tasks, once for all their listeners, until the last one unsubscribes", () => {
  const liveFeeds = createLiveFeeds(raise);
  const follow = (tenant: string, taskId: string | undefined, listener = vi.fn()) => {
    const matches = vi.fn(() => true);
    const unsubscribe = liveFeeds.follow({ tenant, taskId, key: "k", matches }, listener);
    return { matches, listener, unsubscribe };
  };
  const [first, second, otherTask, otherTenant] = [follow("a", "t"), follow("a", "t"), follow("a", "u"), follow("b", "t")];
  liveFeeds.publish([newEvent(1, "a", "t")]);
  expect([first, second, otherTask, otherTenant].map(({ matches }) => matches.mock.calls.length)).toEqual([1, 0, 0, 0]);
  expect([first, second, otherTask, otherTenant].map(({ listener }) => listener.mock.calls.length)).toEqual([1, 1, 0, 0]);
  first.unsubscribe();
  first.unsubscribe();
  liveFeeds.publish([newEvent(2, "a", "t")]);
  expect([first, second].map(({ listener }) => listener.mock.calls.length)).toEqual([1, 2]);
  second.unsubscribe();
  const later = follow("a", "t");
  liveFeeds.publish([newEvent(3, "a", "t")]);
  expect([second, later].map(({ listener }) => listener.mock.calls.length)).toEqual([2, 1]);
});

test("a listener that throws does not prevent the others from receiving the events", () => {
  const onError = vi.fn();
  const liveFeeds = createLiveFeeds(onError);
  const feed = createLogFeed(store, { tenant: "a" });
  const error = new Error("broken");
  const received = vi.fn();
  liveFeeds.follow(feed, () => raise(error));
  liveFeeds.follow(feed, received);
  liveFeeds.publish([newEvent(1, "a", "t")]);
  expect([onError.mock.calls, received.mock.calls.length]).toEqual([[[error]], 1]);
});

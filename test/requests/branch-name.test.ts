import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { findRefFault, toDefaultBranch } from "../../src/requests/branch-name.ts";

const isValidForGit = (name: string): boolean => spawnSync("git", ["check-ref-format", "--branch", name]).status === 0;

const good = ["main", "bridge/fix-login", "a/b/c", "ünïcode", "x.y", "a@b", "a-", "v1.2", "{x}", "#1", "a'b\"c$d", "a+b"];
const bad = [
  ...[
    "-x",
    "/x",
    "x/",
    "a//b",
    "a..b",
    ".a",
    "a/.b",
    "a.lock",
    "a.lock/b",
    "a.",
    "a b",
    "a~1",
    "a^",
    "a:b",
    "a?",
    "a*",
    "a[b",
    "a\\b",
    "a@{b",
  ],
  ...["a\tb", "a\x7fb", "HEAD"],
];

describe("the name of a branch", () => {
  test.each(good)("%s is accepted, as git accepts it", (name) => {
    expect([findRefFault(name), isValidForGit(name)]).toEqual([null, true]);
  });

  test.each(bad)("%j is rejected, as git rejects it", (name) => {
    expect([typeof findRefFault(name), isValidForGit(name)]).toEqual(["string", false]);
  });

  test("a name is rejected if it is empty, longer than a file name can be, or not well-formed", () => {
    for (const name of ["", "x".repeat(201), "ü".repeat(101), "\ud800"]) expect(findRefFault(name)).toContain("1 to 200 bytes");
    expect(findRefFault("ü".repeat(100))).toBeNull();
  });

  test("a name is rejected if it is @, which git replaces by HEAD", () => expect(findRefFault("@")).not.toBeNull());

  test("the name may be HEAD as the ref of a dispatch, which names a commit", () => {
    expect(findRefFault("HEAD", { isRef: true })).toBeNull();
    expect(findRefFault("--upload-pack=x", { isRef: true })).not.toBeNull();
  });

  test.each(["t", "a:b:c", "::", "-x", "_", "A-Z_0"])("is valid and unique by default for the task %s", (taskId) => {
    const branch = toDefaultBranch(taskId);
    expect([findRefFault(branch), isValidForGit(branch)]).toEqual([null, true]);
    expect(branch.slice("bridge/".length).replaceAll("+", ":")).toBe(taskId);
  });
});

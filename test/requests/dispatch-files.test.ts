import { describe, expect, test } from "vitest";
import { BridgeError } from "../../src/errors.ts";
import { MAX_DISPATCH_FILES, MAX_DISPATCH_FILES_BYTES } from "../../src/requests/dispatch-files.ts";
import { createDispatchParser } from "../../src/requests/parse-dispatch.ts";

const parseDispatch = createDispatchParser([]);
const parse = (files: unknown) => parseDispatch({ agentId: "a", message: "b", files }, { defaultProfile: "inspect" });

function faultsOf(files: unknown): string[] {
  try {
    parse(files);
    return [];
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    return error.errors.map(({ path, message }) => `${path} ${message}`);
  }
}

describe("the files of a dispatch", () => {
  test("the files of a dispatch are kept unchanged, also with the profile inspect", () => {
    const files = [
      { path: "in/a.md", content: "für" },
      { path: "b.bin", content: "AAEC", encoding: "base64" },
      { path: "empty", content: "" },
    ];
    expect(parse(files).request).toMatchObject({ files, profile: "inspect" });
    expect(parse([]).request.files).toEqual([]);
  });

  test("the files of a dispatch are part of the fingerprint", () => {
    const [one, other] = ["1", "2"].map((content) => parse([{ path: "a", content }]).fingerprint);
    expect(one).not.toBe(other);
  });

  test.each<[string, unknown, RegExp[]]>([
    ["no list", {}, [/^files must be an array$/]],
    ["no file", [1], [/^files\.0 must be an object$/]],
    ["nothing in it", [{}], [/^files\.0\.path is required/, /^files\.0\.content is required/]],
    ["an unknown field", [{ path: "a", content: "", mode: 0o777 }], [/^files\.0\.mode is not a known field/]],
    ["an unknown encoding", [{ path: "a", content: "", encoding: "latin1" }], [/^files\.0\.encoding must be one of "utf8", "base64"$/]],
    ["no base64", [{ path: "a", content: "AAE", encoding: "base64" }], [/^files\.0\.content must be base64/]],
    ["base64 with a line break", [{ path: "a", content: "AAEC\n", encoding: "base64" }], [/^files\.0\.content must be base64/]],
    ["a path outside", [{ path: "../a", content: "" }], [/^files\.0\.path must be names/]],
    ["an absolute path", [{ path: "/a", content: "" }], [/^files\.0\.path must be relative/]],
    ["NUL in a path", [{ path: "a\0", content: "" }], [/^files\.0\.path must not contain control/]],
    ["a hook of git", [{ path: ".git/hooks/pre-commit", content: "" }], [/^files\.0\.path must not be in \.git/]],
    [
      "prompt files",
      [
        { path: "SOUL.md", content: "" },
        { path: "agent.json", content: "" },
      ],
      [/^files\.0\.path must not name SOUL/, /^files\.1\.path must not name SOUL/],
    ],
    [
      "one path twice",
      [
        { path: "a", content: "" },
        { path: "a", content: "" },
      ],
      [/^files\.1\.path is the path of files\.0/],
    ],
    [
      "a file as a directory",
      [
        { path: "a/b/c", content: "" },
        { path: "a", content: "" },
      ],
      [/^files\.0\.path is inside of files\.1/],
    ],
    [
      "too many",
      Array.from({ length: MAX_DISPATCH_FILES + 1 }, (_, index) => ({ path: `${index}`, content: "" })),
      [/^files must have at most 100 entries; got 101$/],
    ],
    [
      "too much",
      [
        { path: "a", content: "x".repeat(MAX_DISPATCH_FILES_BYTES) },
        { path: "b", content: "AA==", encoding: "base64" },
      ],
      [/^files must have at most 1048576 bytes in all; got 1048577/],
    ],
    [
      "too much in several bytes",
      [{ path: "a", content: "ü".repeat(MAX_DISPATCH_FILES_BYTES / 2 + 1) }],
      [/^files must have at most 1048576 bytes in all; got 1048578/],
    ],
  ])("the files of a dispatch with %s are rejected", (_, files, expected) => {
    const faults = faultsOf(files);
    expect(faults).toHaveLength(expected.length);
    for (const [index, pattern] of expected.entries()) expect(faults[index]).toMatch(pattern);
  });

  test("the files of a dispatch may fill the limit", () => {
    const files = Array.from({ length: MAX_DISPATCH_FILES }, (_, index) => ({ path: `f${index}`, content: "x".repeat(10_000) }));
    files[0] = { path: "f0", content: "x".repeat(MAX_DISPATCH_FILES_BYTES - 990_000) };
    expect(faultsOf(files)).toEqual([]);
  });
});

import path from "node:path";
import { describe, expect, test } from "vitest";
import { createCommandCall } from "../../../adapters/command/request.ts";

describe("the call of a command", () => {
  test("the call of a command passes only listed variables", () => {
    const env = { PATH: "/bin", LANG: "de_DE.UTF-8", API_KEY: "k", HOME: "/root", BRIDGE_PORT: "1", SECRET: "s" };
    expect(createCommandCall({ argv: ["agent"], env: ["API_KEY", "UNSET"] }, env).env).toEqual({
      PATH: "/bin",
      LANG: "de_DE.UTF-8",
      API_KEY: "k",
    });
  });

  test("the call of a command has a default PATH and LANG", () => {
    expect(createCommandCall({ argv: ["agent"], env: [] }, {}).env).toEqual({ PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8" });
  });

  test.each([
    ["an absolute path", ["/opt/agent", "a"], ["/opt/agent", "a"]],
    ["a bare name, which is looked up on PATH", ["python3", "./agent.py"], ["python3", "./agent.py"]],
    ["a relative path, resolved against Bridge's working directory", ["./agent.sh", "./a"], [path.resolve("agent.sh"), "./a"]],
  ])("the call of a command accepts %s", (_name, argv, expected) => {
    expect(createCommandCall({ argv, env: [] }, {}).argv).toEqual(expected);
  });

  test("the call of a command is the example agent if no program is configured", () => {
    expect(createCommandCall({}, {}).argv).toEqual([
      process.execPath,
      path.resolve(import.meta.dirname, "../../../examples/agents/file-report.js"),
    ]);
  });

  test.each([[{ argv: [] }], [{ argv: "node agent.js" }], [{ env: "PATH" }]])(
    "the call of a command rejects the settings %j",
    (settings) => {
      expect(() => createCommandCall(settings, {})).toThrow();
    },
  );
});

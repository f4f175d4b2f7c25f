import { expect, test } from "vitest";
import { nameMcpServers } from "../../../../adapters/shared/agent-program/mcp-server-names.ts";

test.each([
  [
    ["words", "git-hub_2"],
    ["words", "git-hub_2"],
  ],
  // The part after `__` is the name of a tool.
  [
    ["GitHub (prod)", "my__server", "x,Bash(*) y"],
    ["GitHub_prod", "my_server", "x_Bash_y"],
  ],
  // A generated name must not collide with another server.
  [
    ["a.b", "a_b", "a b", "a_b_2"],
    ["a_b", "a_b_2", "a_b_3", "a_b_2_2"],
  ],
  [
    ["ü", "__proto__", "__"],
    ["server", "proto", "server_2"],
  ],
])("servers %j get the names %j", (names, known) => {
  expect(nameMcpServers(names.map((name) => ({ name })))).toEqual(known);
});

test("a reserved name gets a number", () => {
  expect(nameMcpServers([{ name: "ide" }, { name: "words" }], ["ide"])).toEqual(["ide_2", "words"]);
});

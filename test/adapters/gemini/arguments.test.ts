import { describe, expect, test } from "vitest";
import { createCliArguments } from "../../../adapters/gemini/arguments.ts";

describe("the arguments of gemini", () => {
  test.each([
    ["inspect", "allow", "default"],
    ["inspect", "deny", "default"],
    ["modify", "allow", "yolo"],
    ["modify", "deny", "auto_edit"],
    ["modify", "ask", "auto_edit"],
  ] as const)("the arguments of gemini select for profile %s with approvals %s the mode %s", (profile, approvals, mode) => {
    const given = createCliArguments({ profile, approvals }, { policyFile: "/p.toml", isTrusted: false });
    expect(given).toContain(`--approval-mode=${mode}`);
    expect(given).toContain("--admin-policy=/p.toml");
    expect(given).not.toContain("--skip-trust");
  });

  test("the arguments of gemini keep values that look like options as values", () => {
    const request = { profile: "inspect", approvals: "deny", model: "--yolo", resumeToken: "--yolo" } as const;
    expect(createCliArguments(request, { policyFile: "/p.toml", isTrusted: true })).toEqual(
      expect.arrayContaining(["--model=--yolo", "--resume=--yolo", "--skip-trust"]),
    );
  });
});

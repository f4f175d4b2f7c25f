import { expect, test } from "vitest";
import { createProgramEnvironment } from "../../../../adapters/shared/agent-program/program-environment.ts";
import { programSettingsSchema } from "../../../../adapters/shared/agent-program/settings.ts";

const settings = (env: string[] = []) => programSettingsSchema.parse({ env });

/** Variables of Bridge's environment that a program must not inherit. */
const secrets = {
  BRIDGE_GATEWAY_TOKEN_HASH: "hash",
  BRIDGE_CALLBACK_SECRETS: "whsec_x",
  BRIDGE_TOKENS_FILE: "/tokens",
  BRIDGE_DATA_DIR: "/data",
  AWS_SECRET_ACCESS_KEY: "s",
  OTHER_API_KEY: "k",
  NODE_OPTIONS: "--require=/evil.js",
  LD_PRELOAD: "/evil.so",
  HOME: "/root",
  TMPDIR: "/tmp",
};

test("the environment of a program passes the common variables and those that the adapter or the operator names, and nothing else", () => {
  const common = { PATH: "/opt/bin", LANG: "de_DE.UTF-8", TZ: "UTC", SSL_CERT_FILE: "/certificates" };
  const env = { ...secrets, ...common, VENDOR_KEY: "v", MY_MODEL: "m" };
  expect(createProgramEnvironment({ env, settings: settings(["MY_MODEL", "NOT_SET"]) }, ["VENDOR_KEY", "VENDOR_URL"])).toEqual({
    ...common,
    VENDOR_KEY: "v",
    MY_MODEL: "m",
  });
});

test("the environment of a program has a PATH and a language even when Bridge has none", () => {
  expect(createProgramEnvironment({ env: secrets, settings: settings() }, [])).toEqual({
    PATH: "/usr/local/bin:/usr/bin:/bin",
    LANG: "C.UTF-8",
  });
});

test("variables of the adapter take precedence over inherited ones", () => {
  const { TZ, LANG } = createProgramEnvironment({ env: { TZ: "UTC", LANG: "C" }, settings: settings(["TZ"]) }, [], { TZ: "Asia/Tokyo" });
  expect([TZ, LANG]).toEqual(["Asia/Tokyo", "C"]);
});

test("the environment of a program ignores names that are properties of every object", () => {
  expect(createProgramEnvironment({ env: {}, settings: settings(["constructor", "toString"]) }, [])).not.toHaveProperty(
    "constructor",
    Object,
  );
  expect(Object.values(createProgramEnvironment({ env: {}, settings: settings(["toString", "EMPTY"]) }, []))).toHaveLength(2);
});

test.each([
  [{ HTTPS_PROXY: "http://proxy", no_proxy: "localhost" }, "localhost,127.0.0.1"],
  [{ http_proxy: "http://proxy", NO_PROXY: "a.example", no_proxy: "b.example" }, "a.example,127.0.0.1"],
  [{ HTTP_PROXY: "http://proxy" }, "127.0.0.1"],
])("with the proxy %j a program connects to Bridge's server directly: NO_PROXY is %s", (env, hosts) => {
  expect(createProgramEnvironment({ env, settings: settings() }, [])).toMatchObject({ NO_PROXY: hosts, no_proxy: hosts });
});

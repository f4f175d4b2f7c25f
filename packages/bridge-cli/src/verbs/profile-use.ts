import { findProfile } from "../find-connection.ts";
import { readProfiles, writeProfiles } from "../profiles.ts";
import type { Run } from "../verb.ts";

/** Selects the profile that commands use by default. */
export const run: Run<object> = async ({ args: [name = ""], output, env }) => {
  const all = readProfiles(env);
  const { url } = findProfile(all, name, "profile use");
  writeProfiles(env, { ...all, current: name });
  output.note(`Commands now use ${url}.`);
  return undefined;
};

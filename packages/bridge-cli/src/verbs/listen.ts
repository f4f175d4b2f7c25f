import { CommandError } from "../command-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { formatDuration } from "../format.ts";
import { type ForwardedCallback, startForwarder } from "../listen/start-forwarder.ts";
import type { Output } from "../output.ts";
import { readSecret } from "../read-secret.ts";
import { toOneLine } from "../show-hidden.ts";
import { paint, type Style, type Text } from "../text.ts";
import type { Invocation, Run } from "../verb.ts";

interface Options {
  forwardTo?: string;
  port?: number;
  host?: string;
}

/** The variable of Bridge that contains the secrets. */
const SECRETS = "BRIDGE_CALLBACK_SECRETS";

/** Receives callbacks, verifies their signatures, forwards them to a local server, and returns its answers to Bridge. */
export const run: Run<Options> = async (invocation) => {
  const { options, output, signal } = invocation;
  const { port = 0, host = "127.0.0.1" } = options;
  const target = readTarget(options.forwardTo);
  const secrets = await readSecrets(invocation);
  if (secrets.length === 0) output.warn(`Signatures are not verified, because there is no secret. Set ${SECRETS} as for Bridge.`);
  const forwarder = await startForwarder({ target, port, host, secrets, onForwarded: (callback) => print(callback, output) });
  try {
    output.note(`Listening on ${forwarder.url}, forwarding to ${target.href}. Stop with Ctrl-C.`);
    output.note(`Dispatch with --callback ${forwarder.url} to a Bridge that permits it: BRIDGE_CALLBACK_ALLOW=${forwarder.host}`);
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    return exitCodes.interrupted;
  } finally {
    await forwarder.close();
  }
};

function readTarget(text: string | undefined): URL {
  if (text === undefined)
    throw new CommandError("usage", "--forward-to is missing.", { hint: "brg listen --forward-to http://127.0.0.1:3000/callback" });
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === "") return url;
  throw new CommandError("usage", `--forward-to must be an http or https URL without credentials; got "${text}".`, {
    hint: "For example: http://127.0.0.1:3000/callback",
  });
}

async function readSecrets({ env, stdin, output }: Invocation<Options>): Promise<string[]> {
  const fromEnv = env[SECRETS];
  const text =
    fromEnv === undefined && output.isInteractive
      ? await readSecret(`Secret of Bridge (${SECRETS}), empty for none: `, stdin, output)
      : (fromEnv ?? "");
  const secrets = text
    .split(",")
    .map((secret) => secret.trim())
    .filter((secret) => secret !== "");
  // The value is not printed, because it is a secret.
  if (secrets.some((secret) => !/^whsec_[A-Za-z0-9+/]{4,}={0,2}$/.test(secret)))
    throw new CommandError("usage", `${SECRETS} must be secrets separated by commas: whsec_ followed by base64.`, {
      hint: "Copy the value from the settings of Bridge.",
    });
  return secrets;
}

function print(callback: ForwardedCallback, output: Output): void {
  if (output.format === "terminal") output.print(describe(callback));
  else output.printJson(callback, "line");
}

function describe({ at, taskId, status, durationMs, body, error }: ForwardedCallback): Text {
  const time = new Date(at).toTimeString().slice(0, 8);
  const start = `${time}  ${toOneLine(taskId ?? "-")}  ${status}  ${formatDuration(durationMs)}`;
  return [paint(styleOf(status), start), `  ${toOneLine(error ?? body)}`.trimEnd()];
}

const styleOf = (status: number): Style => (status >= 200 && status < 300 ? "green" : "red");

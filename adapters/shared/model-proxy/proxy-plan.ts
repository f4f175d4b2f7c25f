import type { ProgramSettings } from "../agent-program/settings.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The protocol between a program and its model. */
export type WireProtocol = "anthropic" | "openai" | "gemini";

/** An endpoint that a program calls through the proxy. */
export interface ProxyRoute {
  name: string;
  protocol: WireProtocol;
  /** The vendor's address, as the program would get it. */
  baseUrl: string;
  /** The real credential, which replaces the local key. Null: the endpoint needs none, so the local key is removed. */
  secret: string | null;
  /** Headers with secrets that the program would send itself. They replace headers of the same names. */
  headers?: Readonly<Record<string, string>>;
}

/** What the program gets for a route: an address with the path of `baseUrl`, so that paths pass unchanged, and a key of the task. */
export interface LocalRoute {
  baseUrl: string;
  key: string;
}

/** How a connection uses the proxy: the routes, and the environment and settings without real credentials; or why it cannot. */
export type ProxyPlan =
  | { impossible: string }
  | {
      routes: readonly ProxyRoute[];
      /** Replaces the credentials and addresses by those of the routes, which are named as in `routes`. */
      apply(local: Readonly<Record<string, LocalRoute>>): { env: Environment; settings: ProgramSettings };
    };

/** Returns the environment without these variables, so that no setting can pass them to a program. */
export const omitVariables = (env: Environment, names: readonly string[]): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));

/** Returns whether the proxy can call this address. */
export const isHttpUrl = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text);

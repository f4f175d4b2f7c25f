import type { Scope } from "bridge-client";
import { type Api, ApiError, createApi } from "./api.ts";
import { type Attention, createAttention } from "./live/attention.ts";
import { createFeed, type Feed } from "./live/feed.ts";
import { redeemTicket, takeTicket } from "./sign-in-link.ts";

const STORED_TOKEN = "bridge.token";

/** Whom the token belongs to, and what it may do. */
export interface Identity {
  name: string;
  tenant: string;
  scopes: Scope[];
}

/** What the pages share while someone is signed in. */
export interface ConsoleContext {
  identity: Identity;
  /** Version of Bridge. */
  version: string;
  api: Api;
  /** Events of all tasks: starts, ends, approvals and callbacks. */
  feed: Feed;
  /** What needs a person. */
  attention: Attention;
  token: string;
}

/** Whether someone is signed in. */
export type SessionState =
  | { kind: "signed-out"; reason: string | null }
  | { kind: "checking" }
  | { kind: "unreachable"; detail: string }
  | { kind: "confirming"; present: Identity; offered: Identity; accept(): void; decline(): void }
  | { kind: "signed-in"; context: ConsoleContext };

const UNKNOWN =
  "Bridge does not know this token. Copy the whole token: the file data/token contains it, unless the operator configured tokens.";
const REVOKED = "Bridge no longer accepts this token. It has expired or was revoked. Sign in with another one.";
/** The token of a session, which a sign-in link creates. */
const SESSION_PREFIX = "ses_";
const RETRY_MS = 1000;

/** Asks Bridge whose token it is, and for its version. */
async function greet(api: Api): Promise<Pick<ConsoleContext, "identity" | "version">> {
  const [identity, { version }] = await Promise.all([api.call<Identity>("/api/v2/me"), api.call<{ version: string }>("/")]);
  return { identity, version };
}

/** Creates the session. `onChange` is called after every change of its state. */
export function createSession(onChange: () => void) {
  let state: SessionState = { kind: "signed-out", reason: null };
  let close: () => void = () => {};
  let attempt = 0;
  const change = (next: SessionState): void => {
    state = next;
    onChange();
  };

  /** Closes what the current state uses. Returns the number of the next attempt to sign in. */
  function leave(): number {
    close();
    close = () => {};
    attempt += 1;
    return attempt;
  }

  function end(reason: string | null): void {
    leave();
    sessionStorage.removeItem(STORED_TOKEN);
    localStorage.removeItem(STORED_TOKEN);
    change({ kind: "signed-out", reason });
  }

  /** Asks Bridge whose token it is, until it responds. `isNew` is whether Bridge has not accepted the token before. */
  async function open(token: string, { isNew }: { isNew: boolean }): Promise<void> {
    const current = leave();
    let rejection = isNew ? UNKNOWN : REVOKED;
    change({ kind: "checking" });
    /** Returns whether Bridge still accepts the token. During an upgrade, a single node can reject a token that the others accept. */
    const confirmToken = async (): Promise<boolean> => {
      if (!(await isRejected(token))) return true;
      if (attempt === current) end(rejection);
      return false;
    };
    const api = createApi(token, () => void confirmToken());
    while (attempt === current) {
      try {
        const known = await greet(api);
        rejection = REVOKED;
        if (attempt === current) start({ ...known, api, token }, confirmToken);
        return;
      } catch (error) {
        if (attempt !== current) return;
        if (!(error instanceof ApiError && error.status === 401)) change({ kind: "unreachable", detail: describe(error) });
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  function start(part: Pick<ConsoleContext, "identity" | "version" | "api" | "token">, confirmToken: () => Promise<boolean>): void {
    const { parts, close: stop } = follow(part, confirmToken);
    close = stop;
    change({ kind: "signed-in", context: { ...part, ...parts } });
  }

  /** Signs in with a token that stays in this tab. */
  function keep(token: string, options = { isNew: false }): void {
    sessionStorage.setItem(STORED_TOKEN, token);
    void open(token, options);
  }

  /** Signs in by a link. Asks first if the link would replace the token of someone else, because others can send links, too. */
  async function signInByLink(ticket: string): Promise<void> {
    const current = leave();
    change({ kind: "checking" });
    const stored = readToken();
    try {
      const token = await redeemTicket(ticket);
      const discard = (): void => closeSession(createApi(token, () => {}));
      const [offered, present] = await Promise.all([identify(token), stored === null ? null : identify(stored)]);
      if (attempt !== current) return discard();
      if (offered === null || present === null || isSame(offered, present)) return keep(token);
      close = discard;
      const accept = (): void => {
        close = () => {};
        keep(token);
      };
      change({ kind: "confirming", present, offered, accept, decline: resume });
    } catch (error) {
      if (attempt !== current) return;
      if (stored !== null) return resume();
      change({ kind: "signed-out", reason: describe(error) });
    }
  }

  /** Continues with the token of this tab, or with the one that the browser remembers. */
  function resume(): void {
    const token = readToken();
    if (token === null) change({ kind: "signed-out", reason: null });
    else void open(token, { isNew: false });
  }

  /** Signs in by the link in the address. Returns false if there is none. */
  function followLink(): boolean {
    const ticket = takeTicket();
    if (ticket !== null) void signInByLink(ticket);
    return ticket !== null;
  }

  return {
    get state(): SessionState {
      return state;
    },
    /** Signs in by the link that opened the page, or continues with a stored token. */
    resume(): void {
      if (!followLink()) resume();
    },
    followLink,
    /** Signs in. The token stays in this tab, unless the browser is to remember it. */
    signIn(token: string, { remember }: { remember: boolean }): void {
      if (remember) localStorage.setItem(STORED_TOKEN, token);
      keep(token, { isNew: true });
    },
    signOut(): void {
      if (state.kind === "signed-in" && state.context.token.startsWith(SESSION_PREFIX)) closeSession(state.context.api);
      end(null);
    },
  };
}

/** Starts to follow what happens. */
function follow({ token, api }: Pick<ConsoleContext, "token" | "api">, confirmToken: () => Promise<boolean>) {
  const feed = createFeed(token, confirmToken);
  const attention = createAttention({ api, feed });
  return {
    parts: { feed, attention },
    close(): void {
      attention.close();
      feed.close();
    },
  };
}

/** Ends the session in Bridge. If Bridge does not respond, the session ends by itself. */
function closeSession(api: Api): void {
  api.call("/api/v2/sessions/current", { method: "DELETE" }).catch(() => {});
}

/** Returns whether Bridge responds that it does not accept the token. */
const isRejected = (token: string): Promise<boolean> =>
  identify(token).then(
    (identity) => identity === null,
    () => false,
  );

/** Returns whose token it is; null if Bridge does not accept it. Rejects with an `ApiError`. */
async function identify(token: string): Promise<Identity | null> {
  try {
    return await createApi(token, () => {}).call<Identity>("/api/v2/me");
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

const isSame = (one: Identity, other: Identity): boolean => one.name === other.name && one.tenant === other.tenant;
const readToken = (): string | null => sessionStorage.getItem(STORED_TOKEN) ?? localStorage.getItem(STORED_TOKEN);
const describe = (error: unknown): string => (error instanceof ApiError ? error.message : String(error));

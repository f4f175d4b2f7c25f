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
  | { kind: "signed-in"; context: ConsoleContext };

const WITHDRAWN = "Bridge no longer accepts this token. It has expired or was withdrawn. Sign in with another one.";
/** The token of a session, which a sign-in link creates. */
const SESSION_PREFIX = "ses_";
const RETRY_MS = 1000;

/** Creates the session. `onChange` is called after every change of its state. */
export function createSession(onChange: () => void) {
  let state: SessionState = { kind: "signed-out", reason: null };
  let close: () => void = () => {};
  let attempt = 0;

  function change(next: SessionState): void {
    state = next;
    onChange();
  }

  function end(reason: string | null): void {
    attempt += 1;
    close();
    close = () => {};
    sessionStorage.removeItem(STORED_TOKEN);
    localStorage.removeItem(STORED_TOKEN);
    change({ kind: "signed-out", reason });
  }

  /** Asks Bridge whose token it is, until it responds. */
  async function open(token: string): Promise<void> {
    attempt += 1;
    const current = attempt;
    change({ kind: "checking" });
    const onUnauthenticated = (): void => {
      if (attempt === current) end(WITHDRAWN);
    };
    const api = createApi(token, onUnauthenticated);
    while (attempt === current) {
      try {
        const identity = await api.call<Identity>("/api/v2/me");
        if (attempt === current) start({ identity, api, token }, onUnauthenticated);
        return;
      } catch (error) {
        if (attempt !== current) return;
        change({ kind: "unreachable", detail: error instanceof ApiError ? error.message : String(error) });
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  function start(part: Pick<ConsoleContext, "identity" | "api" | "token">, onUnauthenticated: () => void): void {
    const feed = createFeed(part.token, onUnauthenticated);
    const attention = createAttention({ api: part.api, feed });
    close = () => {
      attention.close();
      feed.close();
    };
    change({ kind: "signed-in", context: { ...part, feed, attention } });
  }

  /** Signs in with a token that stays in this tab. */
  function keep(token: string): void {
    sessionStorage.setItem(STORED_TOKEN, token);
    void open(token);
  }

  async function signInByLink(ticket: string): Promise<void> {
    change({ kind: "checking" });
    try {
      keep(await redeemTicket(ticket));
    } catch (error) {
      change({ kind: "signed-out", reason: error instanceof ApiError ? error.message : String(error) });
    }
  }

  return {
    get state(): SessionState {
      return state;
    },
    /** Signs in by the link that opened the page, or continues with the token of this tab, or with the one that the browser remembers. */
    resume(): void {
      const ticket = takeTicket();
      if (ticket !== null) return void signInByLink(ticket);
      const token = sessionStorage.getItem(STORED_TOKEN) ?? localStorage.getItem(STORED_TOKEN);
      if (token !== null) void open(token);
    },
    /** Signs in. The token stays in this tab, unless the browser is to remember it. */
    signIn(token: string, { remember }: { remember: boolean }): void {
      if (remember) localStorage.setItem(STORED_TOKEN, token);
      keep(token);
    },
    signOut(): void {
      if (state.kind === "signed-in" && state.context.token.startsWith(SESSION_PREFIX)) closeSession(state.context.api);
      end(null);
    },
  };
}

/** Ends the session in Bridge. If Bridge does not respond, the session ends by itself. */
function closeSession(api: Api): void {
  api.call("/api/v2/sessions/current", { method: "DELETE" }).catch(() => {});
}

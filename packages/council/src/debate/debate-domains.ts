import type { AddedDomain, DomainRequest } from "../prompts/packet.ts";
import { CROSS_DOMAIN, type CrossDomainSignal } from "../types.ts";
import type { Speaker } from "./findings.ts";

/** The domains of one debate, and what roles request from them. */
export type DebateDomains = ReturnType<typeof createDebateDomains>;

/** Creates the list of domains. Each initial domain has an expert. */
export function createDebateDomains(initial: readonly string[]) {
  const active = [...initial];
  const wanted = new Map<string, AddedDomain>();
  let latest: readonly AddedDomain[] = [];
  let requests: DomainRequest[] = [];

  return {
    /** Domains with an expert, in the order in which they joined. */
    active: active as readonly string[],
    /** Returns the domains that the latest round added. */
    listLatest: (): readonly AddedDomain[] => latest,
    /** Returns the requested domains without an expert. */
    listWanted: (): AddedDomain[] => [...wanted.values()],
    /** Returns the requests that an active expert has not received yet. */
    listOpenRequests: (): DomainRequest[] => requests.filter(({ domain }) => active.includes(domain)),
    /** Records a signal of a role: as a request if its domain has an expert or is wanted, otherwise as a wanted domain. */
    recordSignal(from: Speaker, { domain, reason }: CrossDomainSignal, findingId: string | null): void {
      if (domain === from.domain || domain === CROSS_DOMAIN) return;
      if (active.includes(domain) || wanted.has(domain)) requests.push({ domain, from: from.agent, finding_id: findingId, reason });
      else wanted.set(domain, { domain, trigger_finding_id: findingId, reason });
    },
    /** Removes and returns the requests to the expert of a domain. */
    takeRequests(domain: string): DomainRequest[] {
      const own = requests.filter((request) => request.domain === domain);
      requests = requests.filter((request) => request.domain !== domain);
      return own;
    },
    /** Adds domains that have an expert from now on. */
    activate(added: readonly AddedDomain[]): void {
      latest = added;
      for (const { domain } of added) {
        active.push(domain);
        wanted.delete(domain);
      }
    },
  };
}

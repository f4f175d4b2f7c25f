/** Shows the number of waiting approvals in the title, the icon and, if the person allowed it, in notifications. */

import { LOGO_PATH } from "./logo.ts";

/** The approvals that a tab signals. */
interface WaitingApprovals {
  approvals: readonly { approvalId: string; toolName: string; agentId: string }[];
  hasMoreApprovals: boolean;
}

/** Creates the signals of this tab. */
export function createTabSignals() {
  let known: ReadonlySet<string> | null = null;
  let shown: string | null = null;

  return {
    /** Updates the title and the icon, and notifies of approvals that are new. */
    update(title: string, { approvals, hasMoreApprovals }: WaitingApprovals): void {
      const count = approvals.length;
      document.title = count === 0 ? `${title} · Bridge` : `(${count}${hasMoreApprovals ? "+" : ""}) ${title} · Bridge`;
      const icon = renderIcon(count);
      if (icon !== shown) document.querySelector<HTMLLinkElement>("link[rel=icon]")?.setAttribute("href", icon);
      shown = icon;
      const added = approvals.filter(({ approvalId }) => known?.has(approvalId) === false);
      known = new Set(approvals.map(({ approvalId }) => approvalId));
      if (added.length > 0 && canNotify()) notify(added);
    },
    /** Forgets the known approvals, for the next person who signs in. */
    reset(): void {
      known = null;
    },
  };
}

/** Returns whether the person allowed notifications. */
const canNotify = (): boolean => "Notification" in globalThis && Notification.permission === "granted";

/** Returns whether the person can still be asked. Browsers offer notifications only to pages in a secure context. */
export const canAskToNotify = (): boolean => "Notification" in globalThis && isSecureContext && Notification.permission === "default";

function notify(added: readonly { toolName: string; agentId: string }[]): void {
  const [first] = added;
  const body = added.length === 1 ? `${first?.agentId} wants to call ${first?.toolName}.` : `${added.length} tool calls wait.`;
  const notification = new Notification("Bridge: approval needed", { body, tag: "bridge-approval" });
  notification.onclick = () => {
    focus();
    notification.close();
  };
}

function renderIcon(count: number): string {
  const dot = count === 0 ? "" : `<circle cx="24" cy="8" r="8" fill="#c2410c"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="${LOGO_PATH}" fill="none" stroke="#2563eb" stroke-width="2.5"/>${dot}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

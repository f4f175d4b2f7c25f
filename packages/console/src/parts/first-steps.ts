import type { Adapter } from "bridge-client";
import { html, type TemplateResult } from "lit";
import { bridgeUrl } from "../base-url.ts";
import { toCurl } from "../dispatch-form.ts";
import { linkTo } from "../router.ts";
import { copyButton } from "./copy-button.ts";
import { inputsOf } from "./council-fields.ts";

/** Shows how to dispatch the first task. The command names an adapter that works, and brings the file that its task reads. */
export function firstSteps(adapters: readonly Adapter[]): TemplateResult {
  const healthy = adapters.filter(({ health }) => health.status === "healthy");
  const { provider } = healthy.find((adapter) => inputsOf(adapter).length === 0) ?? {};
  if (provider === undefined)
    return html`<p class="empty">No tasks yet, and no adapter is ready. <a href=${linkTo("adapters")}>See why</a></p>`;
  const command = toCurl(new URL("api/v2/dispatch", bridgeUrl).href, {
    ...{ provider, agentId: "auditor", message: "Count BRIDGE in *.md" },
    files: [{ path: "notes.md", content: "BRIDGE is one endpoint. BRIDGE loses no task." }],
  });
  return html`<p class="empty">No tasks yet. <a href=${linkTo("new")}>Dispatch one here</a>, or from a terminal with your token in BRIDGE_TOKEN:</p>
    <pre tabindex="0"><code>${command}</code></pre>
    <p>${copyButton(command, "Copy as curl")}</p>`;
}

import type { TaskFile } from "bridge-client";
import { html, nothing, type TemplateResult } from "lit";
import { formatBytes, showHidden } from "../format.ts";
import { MAX_FILES } from "../live/task-loader.ts";

/** Lists the files of a task, each with a button that downloads it; nothing if there are none. */
export function taskFiles(files: readonly TaskFile[], onDownload: (file: TaskFile) => void): TemplateResult | typeof nothing {
  if (files.length === 0) return nothing;
  return html`<section aria-labelledby="files">
    <h2 id="files">Files <span class="hint">${files.length}${files.length === MAX_FILES ? "+" : ""}</span></h2>
    <ul class="rows">
      ${files.map(
        (file) => html`<li>
          <code>${showHidden(file.path)}</code> <span class="detail">${formatBytes(file.bytes)}</span>
          <button @click=${() => onDownload(file)} aria-label="Download ${showHidden(file.path)}">Download</button>
        </li>`,
      )}
    </ul>
  </section>`;
}

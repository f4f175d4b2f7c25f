import type { DirectiveResult } from "lit/directive.js";
import { guard } from "lit/directives/guard.js";
import { createElement, type IconNode } from "lucide";

/** Shows an icon of Lucide, which decorates a text. */
export const icon = (node: IconNode): DirectiveResult => guard([node], () => createElement(node, { class: "icon", "aria-hidden": "true" }));

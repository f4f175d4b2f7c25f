import { html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import { fieldLabels, splitList } from "../dispatch-form.ts";
import { showHidden } from "../format.ts";

/** A field of a form, with what is wrong with it. */
export interface FormField {
  name: string;
  type?: "text" | "number" | "url" | "area" | "list" | readonly Option[];
  hint?: string;
  /** The value that applies to the empty field; empty if it is not known. */
  usual?: string;
  /** Id of the list of suggestions. */
  list?: string;
  /** What a select shows for no value; null if it must have one. */
  none?: string | null;
  /** The choices of a list. */
  choices?: readonly Option[];
}

/** A value that a person chooses. */
export interface Option {
  value: string;
  /** Default: the value. */
  name?: string;
  isDisabled?: boolean;
  title?: string;
}

/** The state of the form. */
export interface FormState {
  valueOf(name: string): string;
  /** What is wrong with a field; empty if nothing is. */
  faultOf(name: string): string;
  onEdit(name: string, value: string): void;
}

/** Shows a field with its label, its hint and its fault. */
export function formField(field: FormField, form: FormState): TemplateResult {
  const { name, type = "text", hint = "" } = field;
  const id = name.replaceAll(".", "-");
  const fault = form.faultOf(name);
  const described = [hint === "" ? "" : `${id}-hint`, fault === "" ? "" : `${id}-error`].filter((part) => part !== "").join(" ");
  const attributes: Attributes = { id, invalid: fault === "" ? nothing : "true", described: described === "" ? nothing : described };
  const notes = html`${hint === "" ? nothing : html`<p class="hint" id="${id}-hint">${hint}</p>`}
    ${fault === "" ? nothing : html`<p class="field-error" id="${id}-error">${showHidden(fault)}</p>`}`;
  if (type === "list")
    return html`<fieldset class="wide" aria-describedby=${attributes.described}>
      <legend>${fieldLabels[name] ?? name}</legend>
      ${renderChoices(field, form)} ${notes}
    </fieldset>`;
  return html`<div class=${type === "area" ? "wide" : ""}>
    <label for=${id}>${fieldLabels[name] ?? name}</label>
    ${renderControl(field, form, attributes)} ${notes}
  </div>`;
}

interface Attributes {
  id: string;
  invalid: string | typeof nothing;
  described: string | typeof nothing;
}

function renderControl(
  { name, type = "text", list, none = "default", usual = "" }: FormField,
  form: FormState,
  attributes: Attributes,
): TemplateResult {
  const { id, invalid, described } = attributes;
  const value = form.valueOf(name);
  const onInput = (event: Event): void => form.onEdit(name, (event.target as HTMLInputElement).value);
  if (type === "area") {
    const isProse = name === "message" || name === "council.task_description";
    return html`<textarea
      id=${id} rows=${isProse ? 5 : 3} .value=${live(value)} @input=${onInput} aria-invalid=${invalid} aria-describedby=${described}
      spellcheck=${isProse}
    ></textarea>`;
  }
  if (typeof type === "object")
    return html`<select id=${id} @change=${onInput} aria-invalid=${invalid} aria-describedby=${described}>
      ${none === null ? nothing : html`<option value="" ?selected=${value === ""}>${usual === "" ? none : `${usual} (default)`}</option>`}
      ${type.map(
        (option) => html`<option value=${option.value} ?selected=${option.value === value} ?disabled=${option.isDisabled === true}>
          ${option.name ?? option.value}
        </option>`,
      )}
    </select>`;
  return html`<input
    id=${id} type=${type} .value=${live(value)} @input=${onInput} list=${list ?? nothing} placeholder=${usual === "" ? nothing : usual} autocomplete="off" spellcheck="false"
    aria-invalid=${invalid} aria-describedby=${described}
  />`;
}

function renderChoices({ name, choices = [] }: FormField, form: FormState): TemplateResult {
  const chosen = splitList(form.valueOf(name));
  // Values that are no choices, such as domains of another workspace, stay.
  const missing = chosen.filter((value) => !choices.some((choice) => choice.value === value)).map((value): Option => ({ value }));
  const toggle = (value: string): void =>
    form.onEdit(name, (chosen.includes(value) ? chosen.filter((other) => other !== value) : [...chosen, value]).join(","));
  return html`<div class="choices">
    ${[...choices, ...missing].map(
      (option) => html`<label class="choice" title=${option.title ?? nothing}
        ><input type="checkbox" .checked=${live(chosen.includes(option.value))} @change=${() => toggle(option.value)} /> ${option.name ?? option.value}</label
      >`,
    )}
  </div>`;
}

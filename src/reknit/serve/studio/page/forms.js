/** Forms made from the service's own description: what it declares appears here by itself. */

import { make } from "./dom.js";

/** @import { Scenario } from "./types.js" */

/**
 * @typedef {{type?: string, anyOf?: Schema[], enum?: string[], default?: any, title?: string,
 *   description?: string, items?: Schema, minimum?: number, maximum?: number,
 *   exclusiveMinimum?: number, const?: any, "$ref"?: string}} Schema
 */

/** Fields of a scenario that are drawn on the map or come as a whole, so not typed in. */
const NOT_TYPED = new Set(["format", "version", "positions_m", "names", "destroyed", "radio"]);

/**
 * @param {string} name
 */
function labelOf(name) {
  const units = { _m: " (m)", _s: " (s)", _mps: " (m/s)", _per_km2: " (per km²)" };
  for (const [end, unit] of Object.entries(units).reverse()) {
    if (name.endsWith(end)) return name.slice(0, -end.length).replaceAll("_", " ") + unit;
  }
  return name.replaceAll("_", " ");
}

/** @param {Schema} schema */
function typesOf(schema) {
  return schema.anyOf ? schema.anyOf.map((one) => one.type ?? "object") : [schema.type ?? "object"];
}

/**
 * One labelled control; `read` gives its value or throws an Error that names the field.
 * @param {string} name
 * @param {Schema} schema
 * @param {any} value
 * @returns {{row: HTMLElement, read: () => any}}
 */
export function field(name, schema, value) {
  const types = typesOf(schema);
  const id = `field-${name}`;
  const label = make("label", { for: id, text: labelOf(name), title: schema.description });
  if (schema.enum) {
    const select = make("select", { id }, ...schema.enum.map((word) => make("option", { value: word, text: word, selected: word === value })));
    return { row: make("div", { class: "field" }, label, select), read: () => select.value };
  }
  if (types.includes("boolean")) {
    const box = make("input", { id, type: "checkbox", checked: Boolean(value) });
    return { row: make("div", { class: "field" }, label, box), read: () => box.checked };
  }
  const isList = types.includes("array");
  const shown = value === null || value === undefined ? "" : Array.isArray(value) ? value.join(", ") : value;
  const input = make("input", {
    id, value: shown, title: schema.description,
    type: isList ? "text" : "number",
    step: types.includes("number") ? "any" : 1,
    min: schema.minimum ?? schema.exclusiveMinimum, max: schema.maximum,
    placeholder: types.includes("null") ? "automatic" : isList ? "none" : null,
  });
  const read = () => {
    const text = input.value.trim();
    if (!text) return types.includes("null") ? null : isList && !types.includes("number") ? [] : schema.default ?? null;
    const values = text.split(/[\s,]+/).map(Number);
    if (values.some((x) => !Number.isFinite(x))) throw new Error(`${labelOf(name)} is "${text.slice(0, 40)}"; allowed: numbers`);
    if (isList && types.includes("number")) return values.length === 1 ? values[0] : values;
    return isList ? values : values[0];
  };
  return { row: make("div", { class: "field" }, label, input), read };
}

/**
 * A form of every property of a schema that `wanted` keeps.
 * @param {HTMLElement} place
 * @param {Object<string, Schema>} properties
 * @param {Object<string, any>} values
 * @param {(name: string) => boolean} wanted
 * @returns {() => Object<string, any>}
 */
export function form(place, properties, values, wanted) {
  const fields = Object.entries(properties)
    .filter(([name]) => wanted(name))
    .map(([name, schema]) => ({ name, ...field(name, schema, values[name] ?? schema.default) }));
  place.replaceChildren(...fields.map((one) => one.row));
  return () => Object.fromEntries(fields.map((one) => [one.name, one.read()]));
}

/**
 * The form of what a scenario demands.
 * @param {HTMLElement} place
 * @param {Object<string, Schema>} properties
 * @param {Scenario} scenario
 */
export function demandForm(place, properties, scenario) {
  return form(place, properties, scenario, (name) => !NOT_TYPED.has(name));
}

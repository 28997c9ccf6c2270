import { isLabelKey, isLabelValue } from './api-names.ts';

/** One condition of a label selector. An object without the label satisfies `notin` and `absent`. */
export type Requirement =
  | { readonly key: string; readonly operator: 'exists' | 'absent' }
  | { readonly key: string; readonly operator: 'in' | 'notin'; readonly values: readonly string[] };

/** Conditions that must all hold; without any, every object matches. */
export type Selector = readonly Requirement[];

export type ParsedSelector = { readonly selector: Selector } | { readonly fault: string };

const SET = /^(.*?)\s+(in|notin)\s*\(([^()]*)\)$/;
const EQUALITY = /^([^=!]*?)\s*(==|=|!=)\s*([^=!]*)$/;

/** Reads a selector as `kubectl -l` takes it: `a=b`, `a!=b`, `a in (b, c)`, `a notin (b)`, `a`, `!a`. */
export function parseSelector(text: string): ParsedSelector {
  const selector: Requirement[] = [];
  for (const part of partsOf(text)) {
    const requirement = parseRequirement(part);
    if ('fault' in requirement) return requirement;
    selector.push(requirement);
  }
  return { selector };
}

/** The text that the API server takes. */
export function formatSelector(selector: Selector): string {
  return selector.map(formatRequirement).join(',');
}

export function matchesSelector(
  selector: Selector,
  labels: Readonly<Record<string, unknown>>,
): boolean {
  return selector.every((requirement) => satisfies(requirement, labels));
}

function satisfies(requirement: Requirement, labels: Readonly<Record<string, unknown>>): boolean {
  const value = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined;
  switch (requirement.operator) {
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
    case 'in':
      return requirement.values.some((each) => each === value);
    case 'notin':
      return !requirement.values.some((each) => each === value);
  }
}

function formatRequirement(requirement: Requirement): string {
  const { key } = requirement;
  switch (requirement.operator) {
    case 'exists':
      return key;
    case 'absent':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${requirement.operator} (${requirement.values.join(',')})`;
  }
}

/** Separated by commas outside of parentheses. */
function partsOf(text: string): readonly string[] {
  if (text.trim() === '') return [];
  return text.split(/,(?![^(]*\))/).map((part) => part.trim());
}

function parseRequirement(part: string): Requirement | { readonly fault: string } {
  const requirement = readRequirement(part);
  if (requirement === undefined) {
    return {
      fault: `${JSON.stringify(part)} is not a requirement such as app=web, app!=web, app in (web, api), app or !app`,
    };
  }
  if (!isLabelKey(requirement.key)) {
    return { fault: `${JSON.stringify(requirement.key)} is not a label key` };
  }
  const values = 'values' in requirement ? requirement.values : [];
  const wrong = values.find((value) => !isLabelValue(value));
  if (wrong !== undefined) return { fault: `${JSON.stringify(wrong)} is not a label value` };
  return requirement;
}

function readRequirement(part: string): Requirement | undefined {
  const [, setKey, setOperator, list] = SET.exec(part) ?? [];
  if (setKey !== undefined && list !== undefined) {
    const operator = setOperator === 'in' ? 'in' : 'notin';
    return { key: setKey, operator, values: list.split(',').map((value) => value.trim()) };
  }
  const [, key, sign, value] = EQUALITY.exec(part) ?? [];
  if (key !== undefined && value !== undefined) {
    return { key, operator: sign === '!=' ? 'notin' : 'in', values: [value] };
  }
  if (/[=()<>,\s]/.test(part)) return undefined;
  return part.startsWith('!')
    ? { key: part.slice(1), operator: 'absent' }
    : { key: part, operator: 'exists' };
}

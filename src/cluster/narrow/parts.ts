import { arrayAt, isRecord, type JsonRecord, textAt } from '../json.ts';
import type { EbpfChoice } from '../objects.ts';
import { compact, NONE } from './interner.ts';

export const PORT_BOUNDS = { min: 1, max: 65_535 } as const;

/** The non-empty strings of a list. */
export function textsAt(parent: JsonRecord, name: string): readonly string[] {
  const list = arrayAt(parent, name);
  if (list.length === 0) return NONE;
  const found = list.filter((item) => typeof item === 'string' && item !== '');
  return compact(found as string[]);
}

const EBPF_LABEL = 'fairlead.dev/ebpf';

/** Undefined: no such label, or another value. */
export function readEbpfChoice(labels: JsonRecord): EbpfChoice | undefined {
  const choice = labels[EBPF_LABEL];
  return choice === 'on' || choice === 'off' ? choice : undefined;
}

/** One string of each object in a list, such as the names of zones. */
export function textOfEach(
  parent: JsonRecord,
  listName: string,
  textName: string,
): readonly string[] {
  const list = arrayAt(parent, listName);
  if (list.length === 0) return NONE;
  const found: string[] = [];
  for (const item of list) {
    const text = isRecord(item) ? textAt(item, textName) : '';
    if (text !== '') found.push(text);
  }
  return compact(found);
}

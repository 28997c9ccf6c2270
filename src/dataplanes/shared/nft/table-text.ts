import { keyText } from '../../../linux/nftables/fields.ts';
import type {
  BaseHook,
  SetElement,
  SetSpec,
  TableRef,
} from '../../../linux/nftables/nft-objects.ts';
import { type Binary, shortened } from '../../../linux/nftables/userdata.ts';
import { keyTextOf, valueTextOf } from './element-text.ts';
import { ruleText } from './nft-rule.ts';
import type { ChainOf } from './structure.ts';

/** How `nft` begins a further line of elements. */
const NEXT_LINE = ',\n\t\t\t     ';

/** Everything in a table, in the order in which it is made. */
export interface TablePrint {
  readonly table: TableRef;
  readonly comment: string;
  readonly sets: readonly SetSpec[];
  readonly elements: ReadonlyMap<string, readonly SetElement[]>;
  readonly chains: readonly ChainOf[];
}

/** The output of `nft list table` for a newly created table (nft 1.0.6). */
export function tableText(printed: TablePrint): string {
  const { table, elements, chains } = printed;
  const sets = printed.sets.map((spec) => setText(spec, elements.get(spec.name) ?? []));
  const blocks = [...sets, ...chains.map(chainText)];
  const comment = `\tcomment "${printed.comment}"\n`;
  return `table ${table.family} ${table.name} {\n${comment}${blocks.join('\n')}}\n`;
}

function chainText(chain: ChainOf): string {
  const base = chain.base === undefined ? [] : [hookText(chain.base)];
  return block(`chain ${chain.name}`, [...base, ...chain.rules.map(ruleText)]);
}

function setText(spec: SetSpec, elements: readonly SetElement[]): string {
  return block(`${spec.value ? 'map' : 'set'} ${spec.name}`, [
    `typeof ${keyText(spec.key)}${spec.value ? ` : ${valueType(spec.value)}` : ''}`,
    ...(spec.dynamicSize === undefined ? [] : [`size ${spec.dynamicSize}`]),
    ...flagsText(spec),
    ...(spec.hasCounters ? ['counter'] : []),
    `comment "${spec.comment}"`,
    ...(elements.length === 0 ? [] : [`elements = { ${elementsText(spec, elements)} }`]),
  ]);
}

/** An element as `nft` prints it, with counters of zero. */
export function elementText(spec: SetSpec, element: SetElement): string {
  const counter = spec.hasCounters ? ' counter packets 0 bytes 0' : '';
  const comment = element.comment === undefined ? '' : ` comment "${shortened(element.comment)}"`;
  const value = elementValueText(spec, element);
  const key = keyTextOf(spec, element.key);
  return `${key}${counter}${comment}${value === undefined ? '' : ` : ${value}`}`;
}

/** Undefined in a set, which has no values. */
function elementValueText(spec: SetSpec, element: SetElement): string | undefined {
  const { verdict, value } = element;
  if (verdict) return [verdict.code, verdict.chain ?? ''].join(' ').trimEnd();
  if (value === undefined || spec.value === undefined || spec.value === 'verdict') return undefined;
  return valueTextOf(spec.value, value);
}

function block(head: string, lines: readonly string[]): string {
  return `\t${head} {\n${lines.map((line) => `\t\t${line}\n`).join('')}\t}\n`;
}

function valueType(value: NonNullable<SetSpec['value']>): string {
  return value === 'verdict' ? value : keyText(value);
}

function flagsText(spec: SetSpec): string[] {
  const flags = [
    ...(spec.dynamicSize === undefined ? [] : ['dynamic', 'timeout']),
    ...(spec.hasTimeouts ? ['timeout'] : []),
  ];
  return flags.length === 0 ? [] : [`flags ${flags.join(',')}`];
}

function elementsText(spec: SetSpec, elements: readonly SetElement[]): string {
  const perLine = elementsPerLine(spec);
  return sorted(spec, elements)
    .map((element, index) => {
      const delimiter = index % perLine === 0 ? NEXT_LINE : ', ';
      return `${index === 0 ? '' : delimiter}${elementText(spec, element)}`;
    })
    .join('');
}

/** `nft` puts short ones side by side. */
function elementsPerLine({ key }: SetSpec): number {
  const [only] = key;
  if (key.length > 1 || !only) return 1;
  if (only.text === 'meta mark') return 5;
  return only.byteLength === 4 ? 2 : 1;
}

/**
 * `nft` sorts by the number that a key is: one field by its value, several by their bytes as a
 * little-endian machine reads them, so that the last byte counts most.
 */
function sorted(spec: SetSpec, elements: readonly SetElement[]): readonly SetElement[] {
  const [first] = spec.key;
  const isBigEndian = spec.key.length === 1 && first?.byteOrder === 'big';
  const weight = ({ key }: SetElement): Binary => (isBigEndian ? key : [...key].reverse().join(''));
  return elements
    .map((element) => ({ element, weight: weight(element) }))
    .sort((a, b) => (a.weight < b.weight ? -1 : Number(a.weight > b.weight)))
    .map(({ element }) => element);
}

export function hookText({ type, hook, priority }: BaseHook): string {
  return `type ${type} hook ${hook} priority ${priorityText(hook, priority)}; policy accept;`;
}

/** Names that `nft` has for priorities, and where they hold. */
const NAMED_PRIORITIES = [
  { name: 'dstnat', value: -100, hooks: ['prerouting'] },
  { name: 'filter', value: 0, hooks: ['prerouting', 'input', 'forward', 'output', 'postrouting'] },
  { name: 'srcnat', value: 100, hooks: ['postrouting'] },
] as const;
/** Farther away from a name, `nft` prints the number. */
const NEAR = 10;

function priorityText(hook: BaseHook['hook'], priority: number): string {
  const near = NAMED_PRIORITIES.find(
    ({ value, hooks }) =>
      (hooks as readonly string[]).includes(hook) && Math.abs(priority - value) <= NEAR,
  );
  if (!near) return String(priority);
  const away = priority - near.value;
  if (away === 0) return near.name;
  return `${near.name} ${away < 0 ? '-' : '+'} ${Math.abs(away)}`;
}

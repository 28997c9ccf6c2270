import {
  DESTINATION_PORT,
  destinationAddress,
  keyText,
  L4_PROTOCOL,
  MARK,
  SLOT,
  sourceAddress,
} from '../fields.ts';
import type { SetSpec } from '../nft-objects.ts';
import type { TableFamily } from '../nftables-protocol.ts';

/** Sets of every sort that a data plane makes, with every field that a key may have. */
export function exampleSets(family: TableFamily): readonly SetSpec[] {
  const [from, to] = [sourceAddress(family), destinationAddress(family)];
  const frontend = [to, L4_PROTOCOL, DESTINATION_PORT];
  const target = [to, DESTINATION_PORT];
  return [
    { name: 'plain', comment: 'one field', key: [to] },
    { name: 'pairs', comment: 'two fields', key: [from, to] },
    { name: 'numbers', comment: 'to a number', key: frontend, value: [MARK] },
    {
      name: 'counted',
      comment: 'with counters',
      key: [...frontend, SLOT],
      value: target,
      hasCounters: true,
    },
    { name: 'ranges', comment: 'with intervals', key: [MARK, from], isInterval: true },
    { name: 'verdicts', comment: 'to a chain', key: [MARK], value: 'verdict' },
    {
      name: 'packets',
      comment: 'written by packets',
      key: [MARK, from],
      value: [MARK],
      dynamicSize: 4096,
    },
  ];
}

/** The same for `nft -f`. */
export function nftText(family: TableFamily, table: string): string {
  const sets = exampleSets(family).map((set) => {
    const value = set.value === 'verdict' ? 'verdict' : set.value && keyText(set.value);
    const flags = set.isInterval ? 'interval' : set.dynamicSize && 'dynamic,timeout';
    return [
      `${value ? 'map' : 'set'} ${set.name} {`,
      `typeof ${keyText(set.key)}${value ? ` : ${value}` : ''};`,
      ...(set.dynamicSize ? [`size ${set.dynamicSize};`] : []),
      ...(flags ? [`flags ${flags};`] : []),
      ...(set.hasCounters ? ['counter;'] : []),
      `comment "${set.comment}";\n}\n`,
    ].join('\n');
  });
  return `table ${family} ${table} {\n${sets.join('')}}\n`;
}

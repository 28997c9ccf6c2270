import { styleText } from 'node:util';
import type { Difference } from '../../dataplanes/contract.ts';

const SIGNS = { missing: '-', foreign: '+', different: '~' } as const;
const COLOURS = { missing: 'red', foreign: 'green', different: 'yellow' } as const;
const COLUMNS = 80;

/** One line per difference, with both values below it if there are two. */
export function diffText(differences: readonly Difference[]): string {
  return differences.flatMap(linesOf).join('\n');
}

/** Counts by kind, and the number of Services. */
export function diffVerdict(differences: readonly Difference[]): string {
  const count = differences.length;
  if (count === 0) return 'the kernel matches the desired state of this node';
  const services = new Set(differences.flatMap(({ service }) => service ?? []));
  const kinds = (['missing', 'foreign', 'different'] as const).flatMap((kind) => {
    const ofKind = differences.filter((each) => each.kind === kind).length;
    return ofKind === 0 ? [] : [`${ofKind} ${KIND_TEXT[kind]} (${SIGNS[kind]})`];
  });
  const ports = services.size === 0 ? '' : ` in ${services.size} service ports`;
  return `${count} ${count === 1 ? 'difference' : 'differences'}${ports}: ${kinds.join(', ')}`;
}

const KIND_TEXT = {
  missing: 'missing in the kernel',
  foreign: 'not desired',
  different: 'different',
} as const;

function linesOf({ kind, object, service, wanted, found }: Difference): string[] {
  const text = `${SIGNS[kind]} ${object}${service === undefined ? '' : `  (${service})`}`;
  const line = styleText(COLOURS[kind], text, { stream: process.stdout });
  return wanted && found ? [line, ...valueLines(wanted, found)] : [line];
}

/** On one line if both fit; else below each other, without common lines. */
function valueLines(wanted: readonly string[], found: readonly string[]): string[] {
  const [want = 'nothing', ...moreWanted] = wanted;
  const [have = 'nothing', ...moreFound] = found;
  const line = `    desired ${want}   in the kernel ${have}`;
  if (moreWanted.length + moreFound.length === 0 && line.length <= COLUMNS) return [line];
  const isShared = (text: string): boolean => wanted.includes(text) && found.includes(text);
  const isOrder = wanted.every(isShared) && found.every(isShared);
  const shown = (texts: readonly string[]): readonly string[] => {
    const own = isOrder ? texts : texts.filter((text) => !isShared(text));
    return own.length === 0 ? ['nothing else'] : own;
  };
  return [
    ...shown(wanted).map((text) => `    desired        ${text}`),
    ...shown(found).map((text) => `    in the kernel  ${text}`),
  ];
}

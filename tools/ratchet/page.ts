import { WINGS, type WingRow } from '../wings/table.ts';
import type { Scales, Weight } from './weigh.ts';

export const PAGE = 'docs/wings.md';
const BEGIN = '<!-- wings:begin -->';
const END = '<!-- wings:end -->';
/** Lines may differ by this share from those on the page. */
const MOST_STALE = 0.05;

/** The page with the table of today. */
export function withTable(text: string, byPart: Scales['byPart']): string {
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${PAGE} has no lines ${BEGIN} and ${END}`);
  const rows = WINGS.map((wing) => rowOf(wing, byPart.get(wing.name)));
  const head = [
    '| wing | what | state | lines | folders | besides src |',
    '|---|---|---|---|---|---|',
  ];
  return `${text.slice(0, from)}${BEGIN}\n${[...head, coreRow(byPart), ...rows].join('\n')}\n${text.slice(to)}`;
}

/** What the page says of sizes that are no longer so. */
export function stale(text: string, byPart: Scales['byPart']): readonly string[] {
  return [...byPart].flatMap(([part, { lines }]) => {
    const row = text.split('\n').find((line) => line.startsWith(`| ${part} |`));
    const said = Number(row?.split('|')[4]?.replaceAll(',', ''));
    if (Math.abs(said - lines) <= lines * MOST_STALE) return [];
    return [`${part} has ${lines} lines; write the table: node tools/ratchet/main.ts --write`];
  });
}

function coreRow(byPart: Scales['byPart']): string {
  return `| core | what every build has | kept | ${lines(byPart.get('core'))} | the rest of \`src/\` | |`;
}

function rowOf({ name, about, state, folders, alsoOf }: WingRow, weight: Weight | undefined) {
  const paths = (all: readonly string[]): string => all.map((path) => `\`${path}\``).join(', ');
  return `| ${name} | ${about} | ${state} | ${lines(weight)} | ${paths(folders)} | ${paths(alsoOf)} |`;
}

function lines(weight: Weight | undefined): string {
  return (weight?.lines ?? 0).toLocaleString('en-US');
}

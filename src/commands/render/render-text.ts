import { styleText } from 'node:util';
import { endpointKey } from '../../forwarding/endpoints.ts';
import type { Endpoint, Forwarding } from '../../forwarding/model.ts';
import { SOURCE_CLASSES, servicePortName } from '../../forwarding/model.ts';
import { notServedText } from '../../forwarding/not-served-text.ts';
import type { Page, PageChain, PageFrontend, PageWords } from '../../modes/pages/rendered-page.ts';
import { frontendText } from '../services/select-rows.ts';
import { outcomeCell } from '../services/table-view.ts';
import { formatTextTable, formatWrappedTable } from '../text-table.ts';

const INDENT = '  ';
/** Where a sentence is broken; terminals are rarely narrower. */
const SENTENCE_COLUMNS = 96;
/** Without the indent. */
const WORDS_COLUMNS = 78;

/** Pages for a person. */
export function renderText(pages: readonly Page[]): string {
  return pages.map(pageText).join('\n\n\n');
}

function pageText(page: Page): string {
  const { forwarding } = page;
  const { id } = forwarding;
  const where = `${hasElements(page) ? 'in table' : 'by'} ${page.table}`;
  const sections = [
    `${bold(servicePortName(id))}  ${id.protocol}, ${id.family}, ${where}`,
    indented(outcomes(page)),
    indented(endpoints(forwarding)),
    ...(page.words ? [`${head('A NEW CONNECTION')}\n${indented(wordsText(page.words))}`] : []),
    ...(page.commands
      ? [`${head(page.commands.title)}\n${indented(page.commands.lines.join('\n'))}`]
      : []),
    `${head('PATH OF A PACKET')}\n${indented(paths(page))}`,
    hasElements(page) ? `${head('ELEMENTS')}\n${indented(elements(page))}` : '',
    ...(page.chains.length === 0
      ? []
      : [`${head('CHAINS')}\n${indented(page.chains.map(chainText).join('\n\n'))}`]),
  ];
  return sections.filter((section) => section !== '').join('\n\n');
}

function outcomes({ forwarding, frontends }: Page): string {
  const titles = ['FRONTEND', 'KIND', 'FROM POD', 'FROM HOST', 'FROM OUTSIDE', 'ONLY FROM'];
  const rows = frontends.map(({ frontend }) => [
    frontendText(frontend),
    frontend.kind,
    ...SOURCE_CLASSES.map((source) => outcomeCell(frontend.outcomes[source], forwarding)),
    frontend.notServed === undefined
      ? (frontend.allowedSources?.join(', ') ?? '')
      : `not served: ${notServedText(frontend.notServed)}`,
  ]);
  return formatTextTable([titles.map(bold), ...rows]);
}

function endpoints(forwarding: Forwarding): string {
  const { clusterEndpoints, localEndpoints, affinitySeconds } = forwarding;
  const list = (all: readonly Endpoint[]) => all.map(endpointKey).join('  ') || 'none';
  const isLocalUsed = localEndpoints.length > 0 || isDroppedHere(forwarding);
  return formatTextTable([
    [bold('endpoints'), list(clusterEndpoints)],
    ...(isLocalUsed ? [[bold('on this node'), list(localEndpoints)]] : []),
    ...(affinitySeconds > 0
      ? [[bold('sticky'), `a client stays with its endpoint for ${affinitySeconds} s`]]
      : []),
  ]);
}

/** Dropped although other nodes have endpoints: because this one has none. */
function isDroppedHere({ frontends, clusterEndpoints }: Forwarding): boolean {
  const isDropped = frontends.some(({ outcomes: { outside } }) => outside.action === 'drop');
  return isDropped && clusterEndpoints.length > 0;
}

function wordsText(all: readonly PageWords[]): string {
  const rows = all.map(({ about, text }) => [bold(about), text]);
  return formatWrappedTable(rows, { width: WORDS_COLUMNS });
}

function paths(page: Page): string {
  const rows = page.frontends.flatMap(({ frontend, path }) => {
    const name = frontendText(frontend);
    if (path.length === 0) return [[name, dim('no rule of Fairlead applies')]];
    if (hasElements(page)) return [[name, path.join(dim(' > '))]];
    // With chains for each Service the path is long: a line for each hook.
    return path.map((way, index) => [index === 0 ? name : '', way.replaceAll(' > ', dim(' > '))]);
  });
  return formatTextTable(rows);
}

function elements({ frontends }: Page): string {
  const seen = new Set<string>();
  const rows = frontends.flatMap((each) => newRows(each, seen));
  return rows.length === 0 ? dim('none') : formatTextTable(rows);
}

function hasElements({ frontends }: Page): boolean {
  return frontends.some((frontend) => frontend.elements !== undefined);
}

function newRows({ elements: all = [] }: PageFrontend, seen: Set<string>): string[][] {
  return all.flatMap(({ kind, set, text, leadsTo, does = '' }) => {
    const line = `${kind} ${set} ${text}`;
    if (seen.has(line)) return [];
    seen.add(line);
    return [[dim(kind), set, text, leadsTo === undefined ? dim(does) : dim(`to chain ${leadsTo}`)]];
  });
}

function chainText({ name, hook, rules }: PageChain): string {
  const title = hook === undefined ? bold(name) : `${bold(name)}  ${dim(hook)}`;
  const lines = rules.map(({ text, does }) => {
    const sentence = wrapped(does).map((line) => `${INDENT}${green(`# ${line}`)}`);
    return [...sentence, `${INDENT}${text}`].join('\n');
  });
  return [title, ...lines].join('\n');
}

function wrapped(sentence: string): string[] {
  const lines: string[] = [];
  for (const word of sentence.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > SENTENCE_COLUMNS) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '' : INDENT + line))
    .join('\n');
}

function head(text: string): string {
  return bold(text);
}

function bold(text: string): string {
  return styleText('bold', text);
}

function dim(text: string): string {
  return styleText('dim', text);
}

function green(text: string): string {
  return styleText('green', text);
}

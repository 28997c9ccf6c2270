import { CODES, type ExitName } from '../../explain/codes.ts';
import type { EachEndpoint, Explanation } from '../../explain/explanation.ts';
import { proofText } from '../../explain/proof/proof-words.ts';
import type { EndpointShare } from '../../forwarding/answer/endpoint-shares.ts';
import type { Colours } from '../terminal/colour.ts';
import { wrapped } from '../terminal/fit.ts';
import { visible } from '../terminal/visible.ts';
import { stepLines } from './proof/step-lines.ts';

export interface Form {
  readonly width: number;
  readonly colours: Colours;
}

/** Endpoints that are shown of each group; JSON has all. */
const MOST_ENDPOINTS = 10;
const MOST_TROUBLES = 3;
const MARGIN = '  ';
/** Where the text of a line begins. */
const COLUMN = 17;
const LEAST_TEXT_WIDTH = 20;
const CONTINUED = ' \\';

/** The code and one sentence, the reasons, the way of a packet, and whatever else matters. */
export function explanationText(explanation: Explanation, form: Form): string {
  const way = wayLines(explanation, form);
  const proof = factLines('proof', provenText(explanation), form);
  return [
    headline(explanation, form),
    '',
    ...addressLines(explanation, form),
    ...factLines('from', sourceText(explanation), form),
    ...explanation.remarks.flatMap(({ topic, text }) => factLines(topic, text, form)),
    ...(way.length === 0 ? [] : ['', ...way, ...proof, '']),
    ...eachLines(explanation, form),
    ...endpointLines(explanation, form),
    ...elsewhereLines(explanation, form),
    ...factLines('kernel', kernelText(explanation), form),
    ...troubleLines(explanation, form),
    ...(way.length === 0 ? proof : []),
    ...explanation.next.flatMap((text) => nextLines(text, form)),
  ].join('\n');
}

/** All that were asked, where the first line tells of the worst. */
function addressLines({ addresses = [] }: Explanation, form: Form): string[] {
  const wide = Math.max(0, ...addresses.map(({ at }) => at.length));
  return addresses.flatMap(({ at, service, code }, index) => {
    const text = `${at.padEnd(wide)}  ${service}: ${code}`;
    return factLines(index === 0 ? 'addresses' : '', text, form);
  });
}

function wayLines({ proof, question }: Explanation, form: Form): string[] {
  if (proof === null) return [];
  const lines = stepLines(proof, question.frontend);
  return lines.flatMap(({ topic, text }) => factLines(topic, text, form));
}

function provenText({ proof, notProven }: Explanation): string {
  if (proof !== null) return proofText(proof);
  const why = notProven === undefined ? '' : `: ${notProven}`;
  return `predicted from the rows; not proven by a packet${why}`;
}

/** A line whose first word is a code: the sentence continues below itself. */
function headline(
  { code, sentence }: Pick<Explanation, 'code' | 'sentence'>,
  { width, colours }: Form,
): string {
  const paint = paintOf(CODES[code].exit, colours);
  const [first = '', ...more] = hanging(sentence, { width, indent: code.length + 2 });
  return [`${paint(code)}  ${first}`, ...more].join('\n');
}

function paintOf(exit: ExitName, colours: Colours): (text: string) => string {
  if (exit === 'reaches') return colours.green;
  return exit === 'notProven' ? colours.yellow : colours.red;
}

/** A command is continued as a shell continues it, or not broken at all, so that it can be pasted. */
function nextLines(text: string, form: Form): string[] {
  const room = form.width - COLUMN - CONTINUED.length;
  if (!text.startsWith('kubectl ')) return factLines('next', text, form);
  if (text.split(' ').some((word) => word.length > room)) {
    return factLines('next', text, { ...form, width: Number.POSITIVE_INFINITY });
  }
  const lines = factLines('next', text, { ...form, width: form.width - CONTINUED.length });
  return lines.map((line, index) => (index < lines.length - 1 ? `${line}${CONTINUED}` : line));
}

/** `  topic    text`, the text continued in its column. */
export function factLines(topic: string, text: string, { width, colours }: Form): string[] {
  const head = `${MARGIN}${topic}`.padEnd(COLUMN);
  const [first = '', ...more] = hanging(text, { width, indent: COLUMN });
  return [`${colours.bold(head)}${first}`, ...more];
}

function hanging(text: string, { width, indent }: { width: number; indent: number }): string[] {
  const room = Math.max(LEAST_TEXT_WIDTH, width - indent);
  const [first = '', ...more] = wrapped(visible(text), room);
  return [first, ...more.map((line) => ' '.repeat(indent) + line)];
}

function sourceText({ question: { from } }: Explanation): string {
  const pod = from.pod === undefined ? '' : `pod ${from.pod}, `;
  return `${pod}source class ${from.class}: ${from.because}`;
}

/** What a packet straight to each endpoint met. */
function eachLines({ each = [] }: Explanation, form: Form): string[] {
  const wide = Math.max(0, ...each.map(({ endpoint }) => endpoint.length));
  return each.flatMap((one, index) => {
    const node = one.nodeName === '' ? '' : `${visible(one.nodeName)}, `;
    const text = `${one.endpoint.padEnd(wide)}  ${node}${eachText(one)}`;
    return factLines(index === 0 ? 'each' : '', text, form);
  });
}

function eachText({ code, sentence = '', answeredWithinMs }: EachEndpoint): string {
  if (code === undefined) return 'not asked: no time was left';
  if (code === 'REACHES') return `answered within ${answeredWithinMs ?? 0} ms`;
  return `${code}: ${sentence}`;
}

function endpointLines({ candidates }: Explanation, form: Form): string[] {
  const selected = candidates.filter(({ selected: is }) => is);
  const others = candidates.filter(({ selected: is }) => !is);
  // The code says why none gets anything.
  if (others.some(({ because }) => because === 'the connection is not forwarded')) return [];
  const share = ({ oneOf = 1, chosenIf, hairpin }: EndpointShare): string => {
    const text = chosenIf ?? `1 of ${oneOf.toLocaleString('en-US')}`;
    return hairpin ? `${text}, itself` : text;
  };
  return [
    ...groupLines('endpoints', selected, { form, more: share }),
    ...groupLines('not used', others, { form, more: ({ because = '' }) => because }),
  ];
}

function groupLines(
  topic: string,
  shares: readonly EndpointShare[],
  { form, more }: { readonly form: Form; readonly more: (share: EndpointShare) => string },
): string[] {
  const shown = shares.slice(0, MOST_ENDPOINTS);
  const left = shares.length - shown.length;
  const wide = Math.max(0, ...shown.map(({ endpoint }) => endpoint.length));
  const lines = shown.flatMap((share, index) => {
    const node = share.nodeName === '' ? '' : `${visible(share.nodeName)}, `;
    const text = `${share.endpoint.padEnd(wide)}  ${node}${more(share)}`;
    return factLines(index === 0 ? topic : '', text, form);
  });
  if (left <= 0) return lines;
  const rest = `and ${left.toLocaleString('en-US')} more: -o json lists all`;
  return [...lines, ...factLines('', rest, form)];
}

function elsewhereLines({ elsewhere }: Explanation, form: Form): string[] {
  return elsewhere.flatMap(({ where, code, more }, index) => {
    const text = `${where}: ${code}${more === '' ? '' : `, ${more}`}`;
    return factLines(index === 0 ? 'the same' : '', text, form);
  });
}

function kernelText({ agent }: Explanation): string {
  if (agent === null) return 'not compared: these are not the rows of a running agent';
  const who = `the agent (pid ${agent.pid})`;
  const { row } = agent;
  if (row === undefined) return `${who} serves this node`;
  if (agent.detached.length > 0) return `does not lead packets to the row, ${who} says`;
  if (row.is === 'applied') {
    return `has the row as desired${agent.disturber === undefined ? '' : ' again'}, ${who} says`;
  }
  return `does not have the row as desired, ${who} says`;
}

function troubleLines({ agent }: Explanation, form: Form): string[] {
  const troubles = agent?.troubles ?? [];
  const left = troubles.length - MOST_TROUBLES;
  return [
    ...troubles.slice(0, MOST_TROUBLES).flatMap(({ what }) => factLines('trouble', what, form)),
    ...(left > 0 ? factLines('', `and ${left} more: fairlead status`, form) : []),
  ];
}

import type { PathAnswer, PathCandidate } from '../protocol/path-answer.ts';
import { ask } from './ask-server.ts';
import { h, nameOf, replace, withCode } from './dom.ts';
import type { ScreenContext } from './page-screens.ts';
import { pathForm } from './path-form.ts';
import { emptyPanel, problemBox } from './problem-box.ts';
import { routeTo } from './route.ts';
import { wayOf } from './way.ts';
import { wayView } from './way-view.ts';

/** What happens to one connection, drawn through the hooks. */
export function openPath(context: ScreenContext): HTMLElement {
  const { route, signal } = context;
  const { target, from, probe } = route.params;
  const body = h('div', { class: 'stack' });
  const form = h('section', { class: 'panel' }, pathForm(context));
  const element = h('div', { class: 'stack' }, form, body);
  const hasProbe = context.store.about?.mayProbe;
  context.store.listen(() => {
    // The header of the stream may come after this screen was opened.
    if (
      hasProbe === undefined &&
      context.store.about?.mayProbe === true &&
      document.activeElement?.closest('form') === null
    )
      replace(form, pathForm(context));
  }, signal);
  if (target === undefined) {
    const what =
      'Say where a connection shall go, and this screen shows what happens to it, step by step, and why.';
    replace(body, emptyPanel(what));
    return element;
  }
  replace(body, emptyPanel('Asking …'));
  void ask<PathAnswer>('/data/path', { target, from, probe }, signal).then((answer) => {
    if (answer === undefined) return;
    if (answer.is === 'problem') replace(body, problemBox(answer.problem));
    else replace(body, ...explanation(answer.value, signal));
  });
  return element;
}

function explanation(answer: PathAnswer, signal: AbortSignal): HTMLElement[] {
  const way = wayOf(answer);
  return [
    h(
      'section',
      { class: 'panel', data: { code: answer.code, reaches: String(answer.reaches) } },
      h(
        'h1',
        {},
        h('span', { class: toneOf(answer.code) }, MARKS[toneOf(answer.code)]),
        nameOf(answer.sentence),
      ),
      h('div', { class: 'row facts' }, ...facts(answer)),
    ),
    h('section', { class: 'panel' }, wayView(way, signal)),
    h(
      'div',
      { class: 'split' },
      h('div', { class: 'stack' }, candidates(answer), elsewhere(answer)),
      h('div', { class: 'stack' }, help(answer), notes(answer)),
    ),
  ];
}

const MARKS = { good: '✓ ', warn: '? ', bad: '✕ ' } as const;

/** A prediction is not yet good. */
function toneOf(code: string): keyof typeof MARKS {
  if (code === 'REACHES') return 'good';
  return code === 'WOULD_REACH' ? 'warn' : 'bad';
}

function facts({ code, proof, notProven }: PathAnswer): HTMLElement[] {
  const pill = (tone: string, text: string): HTMLElement =>
    h('span', { class: `pill ${tone}` }, text);
  const tone = toneOf(code);
  if (proof === null)
    return [
      pill(tone, code),
      h('span', { class: 'pill warn', data: { fact: 'predicted' } }, '! predicted, not proven'),
      ...(notProven === undefined ? [] : [pill('', notProven)]),
    ];
  const { agrees, isComplete, leftBehind, drop, dropsUnread } = proof;
  return [
    pill(tone, code),
    h(
      'span',
      { class: 'pill good', data: { fact: 'proven' } },
      `✓ proven by a packet (${proof.kind})`,
    ),
    agrees ? pill('good', '✓ as predicted') : pill('bad', '✕ not as predicted'),
    ...(drop?.reason === undefined
      ? []
      : [pill('', `${drop.reason}${drop.function === undefined ? '' : ` in ${drop.function}`}`)]),
    ...(isComplete ? [] : [pill('warn', '! the kernel had no room for some events')]),
    ...(dropsUnread === undefined ? [] : [pill('', `dropped packets not seen: ${dropsUnread}`)]),
    pill(
      '',
      leftBehind.length === 0 ? 'nothing was left behind' : `left behind: ${leftBehind.join(', ')}`,
    ),
  ];
}

function candidates({ candidates: all, proof }: PathAnswer): HTMLElement | undefined {
  const met = proof?.outcome.is === 'forwarded' ? proof.outcome.endpoint : undefined;
  const rows = all.slice(0, 50).map((each) => candidateRow(each, met));
  const heads = ['endpoint', 'node', 'gets'].map((text) => h('th', {}, text));
  const table = h(
    'table',
    { class: 'cards' },
    h('thead', {}, h('tr', {}, ...heads)),
    h('tbody', {}, ...rows),
  );
  return h(
    'section',
    { class: 'panel' },
    h('h2', {}, 'Which endpoint could get it'),
    all.length === 0 ? h('p', { class: 'empty' }, 'None.') : table,
  );
}

function candidateRow(
  {
    endpoint,
    nodeName,
    local,
    selected,
    oneOf,
    chosenIf,
    because,
    hairpin,
    keepsSource,
  }: PathCandidate,
  met: string | undefined,
): HTMLElement {
  const share = chosenIf ?? (oneOf === undefined ? '' : `1 of ${oneOf} new connections`);
  const more = [hairpin ? 'the client itself' : '', keepsSource ? 'not masqueraded' : '']
    .filter((each) => each !== '')
    .join(', ');
  return h(
    'tr',
    { data: { candidate: endpoint } },
    h(
      'td',
      { class: 'mono' },
      nameOf(endpoint),
      ' ',
      endpoint === met ? h('span', { class: 'tag good' }, '✓ this one') : undefined,
    ),
    h('td', { class: 'ink2' }, local ? 'this node' : nameOf(nodeName)),
    h(
      'td',
      {},
      selected ? share : h('span', { class: 'tag bad' }, `nothing: ${because ?? ''}`),
      more === '' ? undefined : h('p', {}, more),
    ),
  );
}

function elsewhere({ elsewhere: all }: PathAnswer): HTMLElement | undefined {
  if (all.length === 0) return undefined;
  const rows = all.flatMap(({ where, code, more }) => [
    h('dt', {}, nameOf(where)),
    h('dd', {}, h('span', { class: `tag ${toneOf(code)}` }, code), more === '' ? '' : ` ${more}`),
  ]);
  return h(
    'section',
    { class: 'panel' },
    h('h2', {}, 'The same from elsewhere'),
    h('dl', { class: 'kv' }, ...rows),
  );
}

function help({ next, proof, question }: PathAnswer): HTMLElement | undefined {
  const all = [...new Set([...(proof?.drop?.cause.next ?? []), ...next])];
  const { service } = question;
  const link =
    service === undefined
      ? undefined
      : h(
          'a',
          { class: 'link', href: routeTo('service', { name: service.split(':')[0] ?? '' }) },
          'its Service ›',
        );
  if (all.length === 0 && link === undefined) return undefined;
  const items = all.map((each) =>
    h('div', { class: 'next', data: { fact: 'next' } }, ...withCode(each)),
  );
  return h(
    'section',
    { class: 'panel finding-like' },
    h('h2', {}, all.length === 0 ? 'Nothing to do' : 'What would help', h('small', {}, link)),
    ...items,
  );
}

function notes({ remarks, agent, question }: PathAnswer): HTMLElement {
  const kernel =
    agent === null
      ? 'not compared: no agent was asked'
      : agent.row === undefined
        ? 'the agent has no row for it'
        : {
            applied: 'has the row as desired',
            waiting: 'does not have the row yet',
            rejected: 'rejected the row',
          }[agent.row.is];
  const rows: (readonly [string, string])[] = [
    ['from', question.from.because],
    ...remarks.map(({ topic, text }) => [topic, text] as const),
    ['kernel', kernel],
    ...(agent?.detached ?? []).map((text) => ['not attached', text] as const),
    ...(agent?.troubles ?? []).map(({ what, next }) => ['trouble', `${what}: ${next}`] as const),
  ];
  return h(
    'section',
    { class: 'panel' },
    h('h2', {}, 'Why, and what else matters'),
    h(
      'dl',
      { class: 'kv' },
      ...rows.flatMap(([topic, text]) => [h('dt', {}, topic), h('dd', {}, text)]),
    ),
  );
}

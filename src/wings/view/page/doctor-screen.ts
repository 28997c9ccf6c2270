import type { DoctorAnswer, DoctorResult } from '../protocol/doctor-answer.ts';
import { ask } from './ask-server.ts';
import { h, nameOf, refresh, replace, withCode } from './dom.ts';
import { counted, exactTime } from './figures.ts';
import type { ScreenContext } from './page-screens.ts';
import { emptyPanel, problemBox } from './problem-box.ts';

const LEVELS = {
  problem: { word: '✕ problem', tone: 'bad' },
  note: { word: '! note', tone: 'warn' },
  unasked: { word: '? not asked', tone: 'flow' },
  ok: { word: '✓ ok', tone: 'good' },
} as const;

const ORDER = ['problem', 'note', 'unasked', 'ok'] as const;

/** What on this machine breaks Services, or may. */
export function openDoctor({ store, signal }: ScreenContext): HTMLElement {
  const body = h('div', { class: 'stack' });
  const again = h('button', { class: 'end', at: { type: 'button' } }, 'Check again');
  const load = async (): Promise<void> => {
    again.disabled = true;
    const answer = await ask<DoctorAnswer>('/data/doctor', {}, signal);
    if (answer === undefined) return;
    again.disabled = false;
    if (answer.is === 'problem') return replace(body, problemBox(answer.problem));
    refresh(body, report(answer.value));
    store.problemCount = answer.value.problems;
    store.tell();
  };
  again.addEventListener('click', () => void load());
  replace(body, emptyPanel('Checking this machine: nothing is changed …'));
  void load();
  const head = h(
    'section',
    { class: 'panel head' },
    h('h1', {}, 'What on this machine could break Services'),
    again,
  );
  return h('div', { class: 'stack' }, head, body);
}

function report(answer: DoctorAnswer): HTMLElement {
  const { verdict, problems, notes, passed, unasked, results, atMs, modes } = answer;
  const sentence = {
    healthy: '✓ Nothing here breaks Services.',
    problems: `✕ ${counted(problems, 'problem')} found.`,
    incomplete: '? No problem found, but not everything could be asked.',
  }[verdict];
  const tone = { healthy: 'good', problems: 'bad', incomplete: 'warn' }[verdict];
  const told = results
    .filter(({ level }) => level !== 'ok')
    .sort((a, b) => ORDER.indexOf(a.level) - ORDER.indexOf(b.level));
  // Modes have a list of their own below.
  const fine = results.filter(({ level, check }) => level === 'ok' && check !== 'modes');
  return h(
    'div',
    { class: 'stack', data: { verdict } },
    h(
      'section',
      { class: 'panel' },
      h(
        'div',
        { class: 'head' },
        h('h2', { class: `big ${tone}` }, sentence),
        h(
          'span',
          { class: 'sub end' },
          `${counted(notes, 'note')} · ${counted(passed, 'check')} passed · ${unasked} could not be asked · ${exactTime(atMs)}`,
        ),
      ),
      ...told.map(findingRow),
    ),
    h(
      'section',
      { class: 'panel' },
      h('h2', {}, 'As Services need it'),
      h('div', { class: 'columns' }, ...fine.map(findingRow)),
    ),
    h(
      'section',
      { class: 'panel' },
      h('h2', {}, 'Modes that could run here'),
      h('dl', { class: 'kv' }, ...modes.flatMap(modeRow)),
    ),
  );
}

function findingRow({ check, level, code, what, why, next }: DoctorResult): HTMLElement {
  const { word, tone } = LEVELS[level];
  return h(
    'div',
    { class: 'finding', data: { code, level } },
    h('div', {}, h('span', { class: `tag ${tone}` }, word)),
    h(
      'div',
      {},
      h(
        'div',
        { class: 'what' },
        nameOf(what),
        ' ',
        h('span', { class: 'sub', title: code }, check),
      ),
      why === undefined ? undefined : h('div', { class: 'why' }, why),
      next === undefined
        ? undefined
        : h('div', { class: 'next' }, h('b', {}, 'what to do: '), ...withCode(next)),
    ),
  );
}

function modeRow({ mode, missing }: DoctorAnswer['modes'][number]): HTMLElement[] {
  const text =
    missing.length === 0
      ? h('span', { class: 'good' }, '✓ could run')
      : h('span', {}, `✕ missing: ${missing.join(', ')}`);
  return [h('dt', {}, mode), h('dd', {}, text)];
}

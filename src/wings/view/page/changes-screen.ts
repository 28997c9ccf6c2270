import type { Change, ChangesAnswer } from '../protocol/changes-answer.ts';
import { ask } from './ask-server.ts';
import { ChangeList } from './change-list.ts';
import { h, nameOf, replace, setText } from './dom.ts';
import { count, exactTime } from './figures.ts';
import type { ScreenContext } from './page-screens.ts';
import { problemBox } from './problem-box.ts';
import { routeTo } from './route.ts';

/** The history: what happened, who wrote it, and when the kernel had it. */
export function openChanges({ route, store, signal }: ScreenContext): HTMLElement {
  const service = route.params['service'];
  const list = new ChangeList();
  const bounds = h('p', { class: 'sub', data: { fact: 'bounds' } });
  const trouble = h('div', {});
  const older = h('button', { at: { type: 'button' } }, 'Older changes');
  older.hidden = true;
  const bySeq = new Map<number, Change>();
  let next: number | undefined;
  let run: string | undefined;
  const add = (changes: readonly Change[]): void => {
    for (const change of changes) {
      if (service === undefined || change.service === service || change.service === '')
        bySeq.set(change.seq, change);
    }
    list.update([...bySeq.values()].sort((a, b) => b.seq - a.seq));
  };
  const load = async (before: number | undefined): Promise<void> => {
    const answer = await ask<ChangesAnswer>(
      '/data/changes',
      { before: before?.toString(), service },
      signal,
    );
    if (answer === undefined) return;
    if (answer.is === 'problem') return replace(trouble, problemBox(answer.problem));
    if (run !== undefined && run !== answer.value.run) bySeq.clear();
    run = answer.value.run;
    next = answer.value.next;
    older.hidden = next === undefined;
    replace(trouble);
    add(answer.value.changes);
    setText(bounds, boundsOf(answer.value));
  };
  older.addEventListener('click', () => void load(next));
  store.listen(() => add(store.changes), signal);
  void load(undefined);
  const title =
    service === undefined
      ? h('h1', {}, 'What changed, and why')
      : h('h1', {}, 'What changed: ', nameOf(service));
  const all =
    service === undefined
      ? undefined
      : h('a', { class: 'button end', href: routeTo('changes') }, 'of all Services');
  return h(
    'section',
    { class: 'panel' },
    h('div', { class: 'head' }, title, all),
    bounds,
    trouble,
    list.element,
    older,
  );
}

function boundsOf({ completeSinceMs, droppedCount }: ChangesAnswer): string {
  const lost = droppedCount === 0 ? '' : `; ${count(droppedCount)} entries had to make room`;
  return `Times are UTC. Complete since ${exactTime(completeSinceMs)}${lost}. What was before the start of the agent is not known.`;
}

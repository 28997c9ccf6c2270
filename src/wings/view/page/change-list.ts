import type { Change } from '../protocol/changes-answer.ts';
import { h, nameOf, replace } from './dom.ts';
import { exactTime, milliseconds, timeOfDay } from './figures.ts';
import { KeyedList } from './keyed.ts';
import { routeTo } from './route.ts';

const MARKS = { bad: '✕', good: '✓', warn: '!', usual: '·' } as const;

/** What changed, and why: newest first. */
export class ChangeList {
  readonly element = h('ul', { class: 'events', data: { list: 'changes' } });
  readonly #rows = new KeyedList<Change>(this.element, {
    key: ({ seq }) => `${seq}`,
    create: changeRow,
  });

  update(changes: readonly Change[]): void {
    this.#rows.update(changes);
  }
}

function changeRow(): { readonly element: Element; update(change: Change): void } {
  const element = h('li', { class: 'event' });
  let key = '';
  const update = (change: Change): void => {
    const now = JSON.stringify(change);
    if (now === key) return;
    key = now;
    const tone = toneOf(change);
    element.dataset['seq'] = String(change.seq);
    element.dataset['kind'] = change.kind;
    element.dataset['tone'] = tone;
    const mark = h('span', { class: `mark ${tone}`, at: { 'aria-hidden': 'true' } }, MARKS[tone]);
    const { service } = change;
    const subject =
      service === ''
        ? undefined
        : h(
            'a',
            { class: 'name', href: routeTo('service', { name: service }), data: { item: '' } },
            nameOf(service),
          );
    replace(
      element,
      h('time', { class: 't mono', title: exactTime(change.atMs) }, timeOfDay(change.atMs)),
      mark,
      h(
        'div',
        {},
        subject,
        subject === undefined ? '' : ': ',
        nameOf(change.sentence),
        h('p', {}, originOf(change)),
      ),
    );
  };
  return { element, update };
}

function toneOf({ tone, kind }: Change): keyof typeof MARKS {
  return kind === 'drift' && tone !== 'good' ? 'warn' : tone;
}

/** Where it comes from, and when the kernel had it. */
function originOf({ slice, resourceVersion, by, kernel, settledAfterMs, again }: Change): string {
  const parts = [
    slice === undefined ? undefined : `slice ${slice}`,
    resourceVersion === undefined || resourceVersion === ''
      ? undefined
      : `version ${resourceVersion}`,
    by === undefined ? undefined : `by ${by}`,
    kernelText(kernel, settledAfterMs),
    again === undefined ? undefined : `${again.count} times, last at ${timeOfDay(again.lastAtMs)}`,
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}

function kernelText(kernel: Change['kernel'], afterMs: number | undefined): string | undefined {
  if (kernel === undefined) return undefined;
  if (kernel === 'waiting') return 'not in the kernel yet';
  if (kernel === 'unknown') return 'not known whether in the kernel';
  if (kernel === 'unneeded') return 'no rule of this node changes';
  return afterMs === undefined ? 'in the kernel' : `in the kernel after ${milliseconds(afterMs)}`;
}

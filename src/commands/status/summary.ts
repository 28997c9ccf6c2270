import { stripVTControlCharacters } from 'node:util';
import { readyz } from '../../agent/conditions.ts';
import type { StatusPage } from '../../agent/status-page.ts';
import type { Attachment } from '../../dataplanes/contract.ts';
import { attachmentWords } from '../../modes/attachment-words.ts';
import type { StatusWords } from '../../modes/status-words.ts';
import { ageText, colour, countText, msText } from './status-texts.ts';

export function isWell({ conditions }: Pick<StatusPage, 'conditions'>): boolean {
  return readyz(conditions).ok;
}

/** Mode and node; contents of the kernel; what the mode adds; uptime and latency. */
export function summary(page: StatusPage, width: number, words?: StatusWords): readonly string[] {
  return [
    ...headline(page, width),
    contents(page),
    ...(words?.lines(page, width) ?? []),
    pace(page),
  ];
}

/** One line, unless the node has a long name. */
function headline(page: StatusPage, width: number): string[] {
  const { node, mode, attachments = [] } = page;
  const verdict = isWell(page) ? colour('green', 'ready') : colour('red', 'not ready');
  const attached = attachedText(attachments.filter(({ isAttached }) => isAttached));
  const name = `${colour('bold', `${node.nodeName}: ${mode}`)}, ${verdict}`;
  if (attached === '') return [name];
  const line = `${name}; ${attached}`;
  const isShort = stripVTControlCharacters(line).length <= width;
  return isShort ? [line] : [name, attached];
}

/** `attached: 8 socket hooks, 3 interfaces`; without hooks, the tables or jumps. */
function attachedText(attached: readonly Attachment[]): string {
  const kinds = [...Map.groupBy(attached, ({ place }) => place)].flatMap(([place, each]) => {
    const { isHook, noun } = attachmentWords(place);
    return noun === undefined ? [] : [{ isHook, text: countText(each.length, noun) }];
  });
  const hooks = kinds.filter(({ isHook }) => isHook).map(({ text }) => text);
  if (hooks.length > 0) return `attached: ${hooks.join(', ')}`;
  return kinds.length === 0 ? '' : `${kinds.map(({ text }) => text).join(', ')} in place`;
}

function contents({ rows, contents: made }: StatusPage): string {
  const waiting = rows.pending === 0 ? '' : `, ${rows.pending.toLocaleString('en-US')} pending`;
  const isWhole = rows.applied === rows.desired;
  if (made === undefined || !isWhole) {
    const desired = countText(rows.desired, 'service port');
    return `in the kernel: ${rows.applied.toLocaleString('en-US')} of ${desired}${waiting}`;
  }
  const parts = [
    countText(made.services, 'Service'),
    countText(made.frontends, 'frontend'),
    countText(made.endpoints, 'endpoint'),
  ];
  return `in the kernel: ${parts.join(', ')}${waiting}`;
}

function pace({ atMs, startedAtMs, propagation: { received } }: StatusPage): string {
  const up = `up ${ageText(atMs - startedAtMs)}`;
  if (received.count === 0) return `${up}; no change since the start`;
  const times = `median ${msText(received.p50Ms)}, p99 ${msText(received.p99Ms)}`;
  const last = countText(received.count, 'change');
  return `${up}; the last ${last} to the kernel: ${times}`;
}

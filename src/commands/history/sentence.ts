import type {
  EndpointMove,
  FieldChange,
  Happening,
  Names,
} from '../../agent/history/history-entry.ts';
import { countText } from '../status/status-texts.ts';

/** Endpoints that a line names; JSON has more. */
const MOST_NAMED = 6;
const MOST_FIELDS = 4;

/** What happened, in one sentence without its subject's name. */
export function sentenceOf(what: Happening): string {
  switch (what.kind) {
    case 'started':
      return (
        `the agent started, version ${what.version}, mode ${what.mode}; ` +
        (what.continues
          ? 'above is what the run before has saved: what happened between them is not known'
          : 'the history begins here: what was before is not known')
      );
    case 'first sync':
      return 'every Service is in the kernel for the first time since the start';
    case 'service':
      return serviceSentence(what);
    case 'endpoints':
      return endpointsSentence(what);
    case 'node':
      return nodeSentence(what);
    case 'flows':
      return (
        `${countText(what.count, 'conntrack entry', 'conntrack entries')} deleted, of ` +
        `${namesText(what.endpoints)}: ${what.reason}`
      );
    case 'drift':
      return driftSentence(what);
    case 'repaired':
      return repairedSentence(what);
    case 'rejected':
      return what.isAll
        ? `every write to the kernel fails: ${what.message} (${what.code})`
        : `the kernel rejected ${countText(what.rows, 'row')}: ${what.message} (${what.code})`;
    case 'node settings':
      return `settings of the node are in the kernel: ${what.fields.join(', ')}`;
    case 'configuration':
      return (
        `configuration: ${what.field} from ${what.before || 'nothing'} to ` +
        `${what.after || 'nothing'}, in force ${what.inForce}`
      );
    case 'condition':
      return conditionSentence(what.name, what.isTrue);
  }
}

type Of<K extends Happening['kind']> = Extract<Happening, { kind: K }>;

function serviceSentence({ change, fields }: Of<'service'>): string {
  if (change !== 'changed') return `Service ${change}`;
  if (fields.length === 0) return 'Service changed in fields that this node does not use';
  return `Service changed: ${fieldsText(fields)}`;
}

function nodeSentence({ change, fields }: Of<'node'>): string {
  return change === 'changed' ? `Node changed: ${fieldsText(fields)}` : `Node ${change}`;
}

function endpointsSentence({ change, moves, fields, uncompared }: Of<'endpoints'>): string {
  const parts = [
    ...moves.map(moveText),
    ...(fields.length === 0 ? [] : [fieldsText(fields)]),
    ...(uncompared === undefined
      ? []
      : [
          `${countText(uncompared.before, 'endpoint')} before and ` +
            `${uncompared.after.toLocaleString('en-US')} after, too many to compare`,
        ]),
  ];
  return parts.length === 0 ? `EndpointSlice ${change}, without endpoints` : parts.join('; ');
}

function moveText({ from, to, endpoints }: EndpointMove): string {
  const names = namesText(endpoints);
  const isOne = endpoints.count === 1;
  if (from === undefined) return `${names} joined, ${to}`;
  if (to === undefined) return `${names} left, ${isOne ? 'was' : 'were'} ${from}`;
  if (from === to) return `${names} changed in hints or node, ${isOne ? 'is' : 'are'} ${to}`;
  return `${names} became ${to}, ${isOne ? 'was' : 'were'} ${from}`;
}

function driftSentence({ what, by, isOwn }: Of<'drift'>): string {
  if (isOwn) return what;
  const who = by === undefined ? 'another process' : `${by.program} (pid ${by.pid})`;
  return `${who} changed objects of fairlead: ${what}`;
}

function repairedSentence({ reason, wrongRows, differences, services }: Of<'repaired'>): string {
  const found = differences.count === 0 ? '' : ` (${namesText(differences, 2)})`;
  const of =
    services.length === 0 ? '' : ` of ${namesText({ first: services, count: services.length }, 3)}`;
  const rows = wrongRows === 0 ? '' : `, ${countText(wrongRows, 'row')}${of} written again`;
  return `inspected the kernel, because of ${REASONS[reason] ?? reason}: ${countText(differences.count, 'difference')}${found}${rows}`;
}

const REASONS: Readonly<Record<string, string>> = {
  drift: 'the external change',
  routine: 'the routine',
  'watch was interrupted': 'an interrupted watch of the kernel',
  failures: 'failed writes',
};

/** The conditions that the agent tells, as sentences. */
function conditionSentence(name: string, isTrue: boolean): string {
  const [good, bad] = CONDITIONS[name] ?? [`${name} is true again`, `${name} is false`];
  return isTrue ? good : bad;
}

const CONDITIONS: Readonly<Record<string, readonly [good: string, bad: string]>> = {
  apiFresh: [
    'the API server is watched again; changes made meanwhile arrive now',
    'no watch to the API server: changes are not heard of',
  ],
  watching: [
    'external changes of the kernel are detected again',
    'external changes of the kernel are not detected',
  ],
  'timely.IPv4': [
    'IPv4 changes reach the kernel in time again',
    'IPv4 changes do not reach the kernel',
  ],
  'timely.IPv6': [
    'IPv6 changes reach the kernel in time again',
    'IPv6 changes do not reach the kernel',
  ],
};

function fieldsText(fields: readonly FieldChange[]): string {
  const shown = fields.slice(0, MOST_FIELDS).map(({ field, before, after }) => {
    if (before === '') return `${field} set to ${after}`;
    return after === '' ? `${field} removed, was ${before}` : `${field} from ${before} to ${after}`;
  });
  const more = fields.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${countText(more, 'more field')}`] : [])].join('; ');
}

/** `10.0.0.1, 10.0.0.2 and 98 more`. */
function namesText({ first, count }: Names, most = MOST_NAMED): string {
  const shown = first.slice(0, most);
  if (shown.length === 0) return countText(count, 'endpoint');
  const more = count - shown.length;
  return more > 0
    ? `${shown.join(', ')} and ${more.toLocaleString('en-US')} more`
    : shown.join(', ');
}

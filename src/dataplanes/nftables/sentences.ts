import type { PodDetection } from '../contract.ts';
import { type Clause, readClauses, SAID } from '../shared/clauses.ts';
import { frontendMap } from './sets.ts';
import type { Rule, Statement } from './statements.ts';
import { durationText } from './text-printer.ts';

type Do = Statement['do'];
type Teller<K extends Do> = (statement: Extract<Statement, { do: K }>) => Clause;

/** The effect of each rule of a chain on a packet, in sentences without their full stops. */
export function ruleSentences(rules: readonly Rule[]): string[] {
  return rules.map((rule, index) => {
    const before = rules[index - 1];
    const isFurtherDraw = before !== undefined && draws(before) && draws(rule);
    return `${isFurtherDraw ? 'if nothing is in that slot: ' : ''}${sentence(rule)}`;
  });
}

function draws({ statements }: Rule): boolean {
  return statements.some((each) => each.do === 'translate' || each.do === 'choose');
}

function sentence(rule: Rule): string {
  const clauses = rule.statements.map((statement) => {
    const tell = TELLERS[statement.do] as Teller<Do>;
    return tell(statement);
  });
  const { head, actions } = readClauses(clauses);
  return `${head}${actions.join(', and ')}`;
}

const when = (text: string): Clause => ({ when: text });
const does = (text: string): Clause => ({ does: text });

const TELLERS: { readonly [K in Do]: Teller<K> } = {
  'match-new': () => when(SAID.beginsConnection),
  'match-untranslated': () => when('its destination was not translated'),
  'match-translated': () => when('its destination was translated'),
  'match-pod': ({ by, is }) =>
    when(`it ${is ? 'comes' : 'does not come'} from a pod of this node (${podText(by)})`),
  'match-interface': ({ name }) => when(`it came in through ${name}`),
  'match-local': ({ of }) => when(of === 'saddr' ? SAID.comesFromNode : SAID.isForNode),
  'match-not-loopback': () => when('not for loopback'),
  'match-range': ({ cidr }) => when(`it is for an address in ${cidr}`),
  'match-transparent': () => when('a socket with IP_TRANSPARENT sends it'),
  'match-marked': () => when(SAID.isMarked),
  'match-frontend': ({ where, set }) => when(`its ${frontendText(where)} is in @${set}`),
  'match-address': ({ set }) => when(`the address it is for is in @${set}`),
  'match-hairpin': ({ set }) => when(`an endpoint of this node (@${set}) reaches itself`),
  'match-limited': () => when('@source-lists has a list of sources for its address and port'),
  'match-source': ({ prefixLength }) =>
    when(`its source lies in a /${prefixLength} of that list (@source-ranges)`),
  'set-mark': () => does(SAID.marks),
  'clear-mark': () => does(SAID.clearsMark),
  masquerade: () => does(SAID.masquerades),
  reset: () => does('rejects it with a TCP reset, if it is TCP'),
  reject: () => does(SAID.rejectsByIcmp),
  leave: () => does('lets it pass'),
  drop: () => does('drops it without a reply'),
  jump: ({ chain }) => does(`goes through chain ${chain}`),
  goto: ({ chain }) => does(`goes on in chain ${chain}`),
  classify: ({ where, as, classes }) =>
    does(
      `${CLASSIFIED[as?.treatment ?? 'own']} of its ${frontendText(where)} (@${frontendMap(where)}, @groups), and goes on in the chain that @${classes} names for it`,
    ),
  'hand-over': ({ from }) =>
    does(`hands it over to the forwarder, while that lives (@forwarder-${from})`),
  'count-not-handed-over': () => when('it is TCP, which @not-handed-over counts'),
  translate: ({ slotCount }) => does(`sends it to ${drawnText(slotCount)} of its list (@slots)`),
  return: ({ seconds }) =>
    does(
      `sends it where its client was sent in the last ${durationText(seconds)} (@clients), if that is still an endpoint of its list (@sticky-endpoints)`,
    ),
  'match-room': () => when('its list has room for one more affinity entry (@new-clients)'),
  choose: ({ slotCount }) =>
    does(`chooses ${drawnText(slotCount)} of its list (@sticky-slots) for its client (@clients)`),
};

const CLASSIFIED = {
  own: 'looks up the class',
  short: 'looks up how this node itself reaches the Service, by the class',
  pick: 'looks up how to draw an endpoint without an affinity entry, by the class',
  choose: 'looks up how to choose an endpoint, by the class',
} as const;

function drawnText(slotCount: number): string {
  if (slotCount === 1) return 'the endpoint in slot 0';
  return `the endpoint in a slot drawn at random from 0 to ${slotCount - 1}`;
}

function frontendText(where: 'service' | 'nodeport'): string {
  return where === 'service' ? 'address and port' : 'port';
}

function podText(by: PodDetection): string {
  if (by.by === 'cidr') return `from ${by.cidr}`;
  return by.by === 'interface' ? `through ${by.name}` : `through ${by.prefix}*`;
}

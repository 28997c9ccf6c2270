import type { Source } from '../../forwarding/answer/connection-source.ts';
import type { EndpointShare } from '../../forwarding/answer/endpoint-shares.ts';
import type { Prediction } from '../../forwarding/answer/prediction.ts';
import { endpointKey } from '../../forwarding/endpoints.ts';
import type { Protocol } from '../../forwarding/model.ts';
import type { ProbeAnswer } from '../../linux/probe/answer-kinds.ts';
import type { ProofCode } from '../codes.ts';
import type { DropCause, DropCode } from '../dropped-packet.ts';
import type { MetRule, Observed, ProvenPacket } from './proof.ts';
import { ruleName } from './proof-words.ts';

/** Whether a packet did what was predicted, and what it did instead. */
export type Judgement = { readonly agrees: true } | Disagreement;

export interface Disagreement {
  readonly agrees: false;
  readonly code: ProofCode | DropCode;
  readonly sentence: string;
  readonly next: readonly string[];
}

/** What the comparison knows besides. */
export interface JudgedCase {
  /** Who asks. */
  readonly subject: string;
  readonly source: Source;
  /** Where to, in words. */
  readonly goal: string;
  readonly protocol: Protocol;
  readonly shares: readonly EndpointShare[];
  /** The address that is asked. */
  readonly to: string;
  /** The node that is asked. */
  readonly nodeName: string;
}

const AGREES: Judgement = { agrees: true };

export function judge(prediction: Prediction, proof: JudgedPacket, judged: JudgedCase): Judgement {
  const byRules = judgeByRules(prediction, proof, judged);
  const judgement = byRules.agrees ? judgeLarge(proof, judged) : byRules;
  const cause = proof.drop?.cause;
  // A datagram need not be answered, but one that the kernel dropped did not arrive.
  const isLost = judgement.agrees && isUnansweredDatagram(proof, judged);
  if (isLost && cause !== undefined) return { agrees: false, ...cause };
  return refinedByDrop(judgement, cause);
}

/** Small packets pass, and large ones vanish without a word: the path carries less than its ends think. */
function judgeLarge(
  { large, outcome }: Pick<ProvenPacket, 'large' | 'outcome'>,
  { subject, goal }: JudgedCase,
): Judgement {
  if (large === undefined || large.hasEnded || large.isCarried) return AGREES;
  const endpoint = outcome.is === 'forwarded' ? outcome.endpoint : goal;
  const sentence = `${endpoint} accepts the connection of ${subject} to ${goal}, and packets with ${large.segmentBytes} bytes of data do not arrive there: the path carries less, and does not say so`;
  return differs('LARGE_PACKETS_LOST', sentence, [
    `tracepath -n ${endpoint.replace(/:\d+$/, '')}: shows how much the path carries`,
    'lower the MTU of the pods\' interfaces to that, or let ICMP "fragmentation needed" pass to the sender',
  ]);
}

function isUnansweredDatagram(
  { kind, outcome, answer }: Pick<ProvenPacket, 'kind' | 'outcome' | 'answer'>,
  { protocol }: JudgedCase,
): boolean {
  const isOnItsWay = outcome.is === 'forwarded' || outcome.is === 'passed';
  return protocol === 'UDP' && kind !== 'dry' && isOnItsWay && answer.is === 'silent';
}

type JudgedPacket = Pick<
  ProvenPacket,
  'kind' | 'outcome' | 'answer' | 'drop' | 'large' | 'acceptQueue'
>;

/** Of these only the kernel knows why; all others are explained by the rules that were met. */
const UNEXPLAINED: ReadonlySet<ProofCode | DropCode> = new Set([
  'DROPPED_BY_KERNEL',
  'ENDPOINT_REFUSES',
  'ENDPOINT_SILENT',
  'LARGE_PACKETS_LOST',
] as const);

/** With the kernel's own reason, where it has one for what the rules do not explain. */
function refinedByDrop(judgement: Judgement, cause: DropCause | undefined): Judgement {
  if (judgement.agrees || cause === undefined || !UNEXPLAINED.has(judgement.code)) return judgement;
  return { agrees: false, ...cause };
}

function judgeByRules(prediction: Prediction, proof: JudgedPacket, judged: JudgedCase): Judgement {
  const { outcome, answer } = proof;
  const foreign = foreignRule(outcome);
  if (foreign !== undefined) return stoppedBy(foreign, outcome, judged);
  if (outcome.is === 'lost' && !ROUTED.has(prediction.action)) return lostAfter(proof, judged);
  switch (prediction.action) {
    case 'forward':
      return judgeForwarded(prediction, proof, judged);
    case 'reject':
      if (outcome.is === 'rejected') return AGREES;
      // No rule is for it, and nothing listens there.
      if (isUnrelayed(prediction) && outcome.is === 'passed' && answer.is === 'refused') {
        return AGREES;
      }
      // The kernel limits how many ICMP errors it sends.
      if (outcome.is === 'dropped' && judged.protocol === 'UDP') return AGREES;
      return otherwise('should have been rejected', outcome, judged);
    case 'drop':
      return outcome.is === 'dropped'
        ? AGREES
        : otherwise('should have been dropped', outcome, judged);
    case 'pass':
      if (prediction.code === 'NOT_TRANSLATED') return judgeDirect(proof, judged);
      // Where the routes lead is not predicted.
      if (outcome.is === 'passed' || outcome.is === 'lost') return AGREES;
      return otherwise('should have passed untranslated', outcome, judged);
    case 'other-service':
      return AGREES;
  }
}

function isUnrelayed(prediction: Prediction): boolean {
  return prediction.code === 'REFUSED_NO_ENDPOINTS' && prediction.relayed === true;
}

/** Where the routes lead is not predicted. */
const ROUTED: ReadonlySet<Prediction['action']> = new Set(['pass', 'other-service'] as const);

function lostAfter(
  { outcome, answer }: Pick<ProvenPacket, 'outcome' | 'answer'>,
  { subject, goal }: JudgedCase,
): Disagreement {
  const after = outcome.is === 'lost' ? outcome.after : '';
  if (after === '' && answer.is === 'unreachable') {
    const sentence = `${subject} has no route to ${goal} (${answer.code}): no packet is sent`;
    return differs('NO_ROUTE', sentence, [
      'ip route: add a route to the Service range, or a default one',
    ]);
  }
  const sentence = `the packet of ${subject} to ${goal} was lost after ${after || 'it was sent'}, and by no rule of nf_tables`;
  return differs('DROPPED_BY_KERNEL', sentence, ['fairlead doctor']);
}

function foreignRule(outcome: Observed): MetRule | undefined {
  return 'by' in outcome && !outcome.by.ours ? outcome.by : undefined;
}

function stoppedBy(rule: MetRule, { is }: Observed, { subject, goal }: JudgedCase): Disagreement {
  const code = is === 'rejected' ? 'REFUSED_BY_RULE' : 'DROPPED_BY_RULE';
  const sentence = `the packet of ${subject} to ${goal} was ${is} by ${ruleName(rule)}, which is not Fairlead's`;
  const next = [`nft -a list chain ${rule.table} ${rule.chain}`];
  return { agrees: false, code, sentence, next };
}

function judgeForwarded(
  prediction: Extract<Prediction, { action: 'forward' }>,
  { kind, outcome, answer, acceptQueue }: JudgedPacket,
  judged: JudgedCase,
): Judgement {
  const { subject, goal } = judged;
  if (outcome.is === 'passed') return untranslated(judged);
  if (outcome.is !== 'forwarded' && outcome.is !== 'handed over') {
    return otherwise('should have been forwarded', outcome, judged);
  }
  if (outcome.is === 'forwarded') {
    const wrong =
      wrongEndpoint(prediction, outcome, judged) ?? wrongSource(prediction, outcome, judged);
    if (wrong !== undefined) return wrong;
  }
  if (outcome.is === 'handed over' && outcome.reached === false) {
    const sentence = `the forwarder accepted the connection of ${subject} to ${goal}, and reached no endpoint`;
    return differs('ENDPOINT_SILENT', sentence, ['fairlead status --connections']);
  }
  const endpoint = outcome.is === 'forwarded' ? outcome.endpoint : 'the forwarder';
  if (kind !== 'dry' && answer.is === 'silent' && isFull(acceptQueue)) {
    return overloaded(endpoint, acceptQueue);
  }
  return kind === 'dry' ? AGREES : judgeAnswer(endpoint, answer, judged);
}

/** Rules that translate are asked by the first packet of a connection only. */
function untranslated({ subject, goal, to }: JudgedCase): Disagreement {
  const sentence = `the packet of ${subject} to ${goal} was not translated by any rule: they are not in the kernel, or a conntrack entry of an earlier connection decides where it goes`;
  return differs('NOT_AS_PREDICTED', sentence, [
    'fairlead diff',
    `conntrack -L --orig-dst ${to}`,
    `conntrack -D --orig-dst ${to}`,
  ]);
}

function isFull(queue: ProvenPacket['acceptQueue']): queue is NonNullable<typeof queue> {
  return queue !== undefined && queue.length > queue.limit;
}

function overloaded(
  endpoint: string,
  { length, limit }: NonNullable<ProvenPacket['acceptQueue']>,
): Disagreement {
  const sentence = `the program at ${endpoint} does not accept: its accept queue is full (${length} connections wait, its backlog is ${limit}), and the kernel drops new ones`;
  return differs('ENDPOINT_OVERLOADED', sentence, [
    'find why the program does not accept: its load, a deadlock; `ss -ltn` in its pod shows the queue',
    'raise the backlog that it listens with, and net.core.somaxconn',
  ]);
}

/** What came back from an endpoint that a packet left for. */
function judgeAnswer(
  endpoint: string,
  answer: ProbeAnswer,
  { subject, goal, protocol, shares, nodeName }: JudgedCase,
): Judgement {
  switch (answer.is) {
    case 'accepted':
    case 'answered':
      return AGREES;
    case 'refused':
      return differs(
        'ENDPOINT_REFUSES',
        `the packet of ${subject} to ${goal} reached ${endpoint}, which refused it`,
        [
          'check that a program listens there, targetPort of the Service, and what a firewall there does',
        ],
      );
    case 'unreachable':
      return differs(
        'DROPPED_BY_KERNEL',
        `the packet of ${subject} to ${goal} was translated to ${endpoint}, and then: ${answer.code}`,
        ['fairlead doctor'],
      );
    case 'silent':
      // A datagram need not be answered.
      return protocol === 'UDP'
        ? AGREES
        : differs(
            'ENDPOINT_SILENT',
            `the packet of ${subject} to ${goal} ${leftFor(endpoint, shares, nodeName)}, and no answer came`,
            [`check the route to ${endpoint}, and what its node does with packets to it`],
          );
  }
}

/** Straight to an endpoint; from itself it meets no rule. */
function judgeDirect(
  proof: Pick<ProvenPacket, 'kind' | 'outcome' | 'answer'>,
  judged: JudgedCase,
): Judgement {
  const { kind, outcome, answer } = proof;
  const isAnswered = answer.is === 'accepted' || answer.is === 'answered';
  if (isAnswered || (kind === 'dry' && outcome.is === 'passed')) return AGREES;
  if (outcome.is === 'lost') return lostAfter(proof, judged);
  if (outcome.is !== 'passed') {
    return otherwise('should have passed untranslated', outcome, judged);
  }
  return judgeAnswer(judged.goal, answer, judged);
}

function wrongEndpoint(
  { endpoints }: Extract<Prediction, { action: 'forward' }>,
  { endpoint }: Extract<Observed, { is: 'forwarded' }>,
  { subject, goal }: JudgedCase,
): Disagreement | undefined {
  if (endpoints.some((each) => endpointKey(each) === endpoint)) return undefined;
  const sentence = `the packet of ${subject} to ${goal} went to ${endpoint}, which is none of its endpoints`;
  return differs('NOT_AS_PREDICTED', sentence, ['fairlead diff', STALE_ENTRY]);
}

/** Of the node itself a masqueraded address may be the one that it had. */
function wrongSource(
  { masquerade }: Extract<Prediction, { action: 'forward' }>,
  { endpoint, seenAs, byProgram }: Extract<Observed, { is: 'forwarded' }>,
  { subject, goal, source, shares }: JudgedCase,
): Disagreement | undefined {
  const { address } = source;
  if (source.class === 'host' || address === undefined) return undefined;
  const share = shares.find((each) => each.endpoint === endpoint);
  const isMasqueraded = !seenAs.startsWith(endpointKey({ address, port: 0 }).slice(0, -1));
  // A socket that is sent to its own host does not leave it, and needs no other source.
  const isHairpin = share?.hairpin === true && byProgram !== 'socket';
  const isByNode = masquerade || isHairpin || share?.nodeSource === true;
  const isExpected = share?.keepsSource ? false : isByNode;
  // A forwarder has its own address where answers to the client's would not come back to it.
  const isOwn = isMasqueraded && byProgram === 'process';
  if (isMasqueraded === isExpected || isOwn) return undefined;
  const should = isExpected ? 'should have been masqueraded' : `should have come from ${address}`;
  const sentence = `the packet of ${subject} to ${goal} came to ${endpoint} from ${seenAs}: it ${should}`;
  return differs('NOT_AS_PREDICTED', sentence, ['fairlead diff']);
}

function otherwise(should: string, outcome: Observed, { subject, goal }: JudgedCase): Disagreement {
  const what = `the packet of ${subject} to ${goal} ${should}, and was ${outcomeText(outcome)}`;
  return differs('NOT_AS_PREDICTED', what, ['fairlead diff']);
}

function outcomeText(outcome: Observed): string {
  switch (outcome.is) {
    case 'forwarded':
      return `sent to ${outcome.endpoint}`;
    case 'handed over':
      return 'handed over to the forwarder';
    case 'passed':
      return 'not translated by any rule';
    case 'dropped':
    case 'rejected':
      return `${outcome.is} by ${ruleName(outcome.by)}`;
    case 'lost':
      return `lost after ${outcome.after || 'it was sent'}, and by no rule of nf_tables`;
  }
}

function differs(
  code: ProofCode | DropCode,
  sentence: string,
  next: readonly string[],
): Disagreement {
  return { agrees: false, code, sentence, next };
}

function leftFor(endpoint: string, shares: readonly EndpointShare[], nodeName: string): string {
  const node = shares.find((each) => each.endpoint === endpoint)?.nodeName ?? '';
  const isBeyond = node !== '' && node !== nodeName;
  return isBeyond ? `left this node for ${endpoint} on ${node}` : `left for ${endpoint}`;
}

/** Rules are met by the first packet of a connection only. */
const STALE_ENTRY =
  'where that finds nothing, a conntrack entry decides: `conntrack -L --dst-nat` lists them, `conntrack -D -d ADDRESS` deletes';

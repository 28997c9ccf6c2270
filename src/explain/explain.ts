import type { RowState } from '../agent/row-state.ts';
import { familyOf, type Source, sourceOfClass } from '../forwarding/answer/connection-source.ts';
import type { Destination, Found } from '../forwarding/answer/destination.ts';
import { sharesOf } from '../forwarding/answer/endpoint-shares.ts';
import type { Place } from '../forwarding/answer/place.ts';
import { predict, predictAt } from '../forwarding/answer/predict.ts';
import type { Prediction } from '../forwarding/answer/prediction.ts';
import type { Candidate } from '../forwarding/candidates.ts';
import { endpointKey } from '../forwarding/endpoints.ts';
import { type Forwarding, SOURCE_CLASSES, servicePortName } from '../forwarding/model.ts';
import { absenceOf, type LeftObjects } from './absent-agent.ts';
import { disturbedRow, objectionOf } from './agent-word.ts';
import { answered } from './answered.ts';
import { type Code, certaintyOf } from './codes.ts';
import {
  CLASS_NAME,
  destinationName,
  frontendName,
  serviceAt,
  subjectOf,
} from './explain-words.ts';
import type {
  AgentWord,
  AskedQuestion,
  AskedSource,
  Elsewhere,
  Explanation,
  PredictedData,
  Remark,
} from './explanation.ts';
import { goalText, predictedSentence } from './predicted-sentence.ts';
import { type JudgedCase, type Judgement, judge } from './proof/judge.ts';
import type { NotPermitted, ProvenPacket } from './proof/proof.ts';
import { nextOf, type RemarkContext, remarksOf } from './remarks.ts';
import { type AskedEndpoint, whyNot } from './why-not.ts';
import type { Zeros } from './zero/zeros.ts';

/** A connection, and where it is asked about. */
export interface AskedCase {
  /** As it was given. */
  readonly target: string;
  readonly to: Destination;
  /** The frontend, where a Service was named; undefined: found by the address. */
  readonly at?: Found;
  readonly source: Source;
  /** The pod that the source is, and its node if that is another one. */
  readonly pod?: { readonly name: string; readonly otherNode?: string };
  /** Whether a client was named by its address or as a pod, and not only by its class. */
  readonly isNamed: boolean;
  readonly place: Place;
  readonly mode: string;
}

/** What is known of the row that a prediction is about. */
export interface RowDetails {
  readonly candidates: readonly Candidate[];
  readonly kernel?: RowState;
}

export function predictionFor(asked: AskedCase, rows: readonly Forwarding[]): Prediction {
  const { at, place } = asked;
  return at === undefined ? predict(asked, rows, place) : predictAt(asked, at, place);
}

/** Joins a prediction with the reasons for it and with what the agent says. */
export function explanationOf(
  asked: AskedCase,
  prediction: Prediction,
  more: {
    readonly details: RowDetails;
    readonly agent: AgentWord | null;
    /** Of this machine, where no agent runs that should; undefined: one does, or another node is asked. */
    readonly left?: LeftObjects;
    readonly whyNot?: AskedEndpoint;
    readonly remarks?: readonly Remark[];
    readonly zeros?: Zeros;
    /** A packet, or why there is none. */
    readonly packet?: ProvenPacket | NotPermitted | string;
  },
): Explanation {
  const { source, to, place } = asked;
  const from = askedSource(asked);
  const subject = subjectOf(from, asked.isNamed);
  const shares = sharesOf(prediction, more.details.candidates, { source, place });
  const context: RemarkContext = { subject, to, place, source, from, shares };
  const found = 'row' in prediction ? prediction : undefined;
  const packet = sentPacket(more.packet);
  const judgement = packet && judge(prediction, packet, judgedCase(asked, context, found));
  const verdict = verdictOf(prediction, context, { ...more, judgement, packet });
  const elsewhere = found === undefined ? [] : elsewhereOf(found, { source, to, place });
  return {
    code: verdict.code,
    reaches: verdict.code === 'REACHES',
    certainty: certaintyOf(verdict.code, judgement),
    sentence: verdict.sentence + exceptions(asked, verdict.code, elsewhere),
    node: place.view.nodeName,
    mode: asked.mode,
    question: questionOf(asked, from, found),
    predicted: predictedData(prediction),
    proof: packet && judgement ? { ...packet, agrees: judgement.agrees } : null,
    ...whyUnproven(more.packet),
    candidates: shares,
    elsewhere,
    agent: more.agent,
    remarks: [
      ...verdict.remarks,
      ...(more.zeros?.remarks ?? []),
      ...remarksOf(prediction, context),
      ...(more.remarks ?? []),
    ],
    next: [...verdict.next, ...(more.zeros?.next ?? nextOf(prediction, context))],
    ...(more.zeros?.cause === undefined ? {} : { cause: more.zeros.cause }),
  };
}

/** By name a pod is asked at the cluster IP, and other addresses of the Service may not work for it. */
function exceptions({ at }: AskedCase, code: Code, elsewhere: readonly Elsewhere[]): string {
  const isWell = code === 'REACHES' || code === 'WOULD_REACH';
  if (at?.frontend.kind !== 'cluster-ip' || !isWell) return '';
  const others = elsewhere.filter((each) => each.where.startsWith('at ') && each.code !== WELL);
  if (others.length === 0) return '';
  return `; but not ${others.map((each) => `${each.where} (${each.code})`).join(', ')}`;
}

const WELL: Elsewhere['code'] = 'WOULD_REACH';

function sentPacket(
  packet: ProvenPacket | NotPermitted | string | undefined,
): ProvenPacket | undefined {
  return typeof packet === 'object' && 'outcome' in packet ? packet : undefined;
}

function whyUnproven(
  packet: ProvenPacket | NotPermitted | string | undefined,
): Pick<Explanation, 'notProven' | 'proofNeeds'> {
  if (typeof packet === 'string') return { notProven: packet };
  if (packet === undefined || 'outcome' in packet) return {};
  return { notProven: packet.why, proofNeeds: packet.needs };
}

interface Verdict {
  readonly code: Code;
  readonly sentence: string;
  readonly remarks: readonly Remark[];
  readonly next: readonly string[];
}

/** The agent's objection comes first: what is not in the kernel does nothing. */
function verdictOf(
  prediction: Prediction,
  context: RemarkContext,
  more: {
    readonly agent: AgentWord | null;
    readonly left?: LeftObjects;
    readonly whyNot?: AskedEndpoint;
    readonly judgement: Judgement | undefined;
    readonly packet: ProvenPacket | undefined;
  },
): Verdict {
  const predicted = predictedSentence(prediction, context);
  const { agent, judgement, packet } = more;
  const { subject } = context;
  const service = 'row' in prediction ? servicePortName(prediction.row.id) : 'it';
  if (judgement?.agrees === false) {
    const gone = packet && disturbedRow(agent, { prediction, packet, service, subject });
    if (gone !== undefined) return { ...gone, remarks: [predictedRemark(prediction, predicted)] };
  }
  if (more.left !== undefined) {
    return { ...absenceOf(more.left, service), remarks: [predictedRemark(prediction, predicted)] };
  }
  const objection = objectionOf(agent, service);
  if (objection !== undefined) {
    const remarks = [{ topic: 'as desired', text: `${prediction.code}: ${predicted}` }];
    return { ...objection, remarks, next: ['fairlead status'] };
  }
  if (judgement?.agrees === false) {
    const { code, sentence, next } = judgement;
    return { code, sentence, remarks: [predictedRemark(prediction, predicted)], next };
  }
  if (more.whyNot !== undefined && 'row' in prediction) {
    return whyNot(more.whyNot, context.shares, { service, subject });
  }
  if (prediction.code !== 'WOULD_REACH' && prediction.code !== 'NOT_TRANSLATED') {
    return { code: prediction.code, sentence: predicted, remarks: [], next: [] };
  }
  return { ...answered(prediction, packet, { subject, to: context.to, predicted }), remarks: [] };
}

function predictedRemark({ code }: Prediction, sentence: string): Remark {
  return { topic: 'predicted', text: `${code}: ${sentence}` };
}

function judgedCase(
  { to, source, place }: AskedCase,
  { subject, shares }: RemarkContext,
  found: Found | undefined,
): JudgedCase {
  const goal = found === undefined ? destinationName(to) : serviceAt(found.row, found.frontend);
  return {
    subject,
    source,
    goal,
    protocol: to.protocol,
    shares,
    to: to.address,
    nodeName: place.view.nodeName,
  };
}

function askedSource({ source, pod }: AskedCase): AskedSource {
  const { class: sourceClass, because, address } = source;
  return {
    class: sourceClass,
    because,
    ...(address === undefined ? {} : { address }),
    ...(pod === undefined ? {} : { pod: pod.name }),
    ...(pod?.otherNode === undefined ? {} : { otherNode: pod.otherNode }),
  };
}

function questionOf(
  { target, to }: AskedCase,
  from: AskedSource,
  found: Found | undefined,
): AskedQuestion {
  return {
    target,
    ...(found === undefined
      ? {}
      : { service: servicePortName(found.row.id), kind: found.frontend.kind }),
    frontend: endpointKey(to),
    protocol: to.protocol,
    from,
  };
}

function predictedData(prediction: Prediction): PredictedData {
  const { code, action } = prediction;
  if (code !== 'WOULD_REACH') return { code, action };
  const { list, masquerade, affinitySeconds } = prediction;
  const endpoints = prediction.endpoints.map(endpointKey);
  return { code, action, list, masquerade, endpoints, affinitySeconds };
}

/** Addresses of a Service that are shown; it can have hundreds. */
const MOST_FRONTENDS = 5;

/**
 * The same connection from the other source classes, and from the same source at the other
 * addresses of the row.
 */
function elsewhereOf(
  { row, frontend }: Found,
  {
    source,
    to,
    place,
  }: { readonly source: Source; readonly to: Destination; readonly place: Place },
): readonly Elsewhere[] {
  const family = familyOf(to.address);
  const fromOthers = SOURCE_CLASSES.filter((each) => each !== source.class).map((each) => {
    const other = sourceOfClass(each, family, place);
    const prediction = predictAt({ source: other }, { row, frontend }, place);
    return elsewhere(`from ${CLASS_NAME[each]}`, prediction, { source: other, place });
  });
  const others = row.frontends.filter((each) => each !== frontend).slice(0, MOST_FRONTENDS);
  const atOthers = others.map((each) => {
    const prediction = predictAt({ source }, { row, frontend: each }, place);
    const where = `at ${frontendName(each, row.id.protocol)}`;
    return elsewhere(where, prediction, { source, place });
  });
  return [...fromOthers, ...atOthers];
}

interface Asked {
  readonly source: Source;
  readonly place: Place;
}

function elsewhere(where: string, prediction: Prediction, asked: Asked): Elsewhere {
  return { where, code: prediction.code, more: moreOf(prediction, asked) };
}

function moreOf(prediction: Prediction, { source, place }: Asked): string {
  const { address } = source;
  if (prediction.code === 'WOULD_REACH') {
    const { allowedSources } = prediction.frontend;
    const isBySocket = place.madeBy?.(prediction, source.class) === 'socket';
    const isUnknown = place.isPodRangeUnknown && !prediction.masquerade && source.class !== 'pod';
    const isOpen = allowedSources === undefined || address !== undefined;
    return [
      goalText(prediction),
      ...(prediction.masquerade && !isBySocket ? ['masqueraded'] : []),
      ...(isUnknown ? ['masquerading not known'] : []),
      ...(isOpen ? [] : [`if its address is in ${allowedSources.join(', ')}`]),
    ].join(', ');
  }
  if (prediction.code !== 'DROPPED_SOURCE_RANGE') return '';
  return `only from ${prediction.allowedSources.join(', ') || 'no address'}`;
}

import type { MetRule, Proof, ProofStep } from '../../../explain/proof/proof.ts';
import type { PathAnswer } from '../protocol/path-answer.ts';
import { milliseconds } from './figures.ts';

/** An explanation as a line: a client, stations with stops, and an end. */
export interface Way {
  readonly isProven: boolean;
  readonly from: WayPlace;
  readonly stations: readonly Station[];
  readonly to: WayPlace & { readonly isReached: boolean };
  /** What the client saw, in words. */
  readonly answer: string;
}

export interface WayPlace {
  readonly title: string;
  readonly address: string;
  readonly note: string;
}

export interface Station {
  readonly name: string;
  readonly means: string;
  readonly packet?: { readonly source: string; readonly destination: string };
  readonly stops: readonly Stop[];
}

export interface Stop {
  readonly title: string;
  readonly by: string;
  readonly does: string;
  readonly kind: 'ours' | 'foreign' | 'kernel';
  /** Its destination changes here. */
  readonly isTurn?: boolean;
  readonly ends?: 'dropped' | 'rejected';
  /** The packet did not come so far. */
  readonly isBeyond?: boolean;
}

const HOOKS: readonly (readonly [name: string, means: string])[] = [
  ['ingress', 'at the interface, before everything else'],
  ['output', 'as it leaves a process of this node'],
  ['prerouting', 'as it comes in'],
  ['routing', 'which way it goes'],
  ['input', 'to a process of this node'],
  ['forward', 'through this node'],
  ['postrouting', 'as it leaves'],
  ['egress', 'at the interface, after everything else'],
  ['', 'hook not known'],
];

export function wayOf(answer: PathAnswer): Way {
  const { proof } = answer;
  return proof === null ? predictedWay(answer) : provenWay(answer, proof);
}

function fromOf({ question }: PathAnswer, proof: Proof | null): WayPlace {
  const { from } = question;
  const words = { pod: 'pod of this node', host: 'this node', outside: 'outside' }[from.class];
  const title =
    from.pod ??
    from.address ??
    { pod: 'any pod', host: 'this node', outside: 'any client' }[from.class];
  return {
    title,
    address: proof?.source || (from.address ?? ''),
    note: from.otherNode ? `pod on ${from.otherNode}` : words,
  };
}

function provenWay(answer: PathAnswer, proof: Proof): Way {
  const seen = new Set(proof.steps.map(({ hook }) => hook));
  const base =
    answer.question.from.class === 'host'
      ? ['output', 'routing', 'postrouting']
      : seen.has('input')
        ? ['prerouting', 'routing', 'input']
        : ['prerouting', 'routing', 'forward', 'postrouting'];
  const names = HOOKS.filter(([name]) => base.includes(name) || seen.has(name));
  const end = endOf(proof);
  const turnHook = turnOf(proof);
  let isOver = false;
  const stations = names.map(([name, means]): Station => {
    const steps = proof.steps.filter(({ hook }) => hook === name);
    const stops = steps.map(
      (step, at): Stop =>
        stopOf(step, {
          isTurn: name === turnHook && at === lastOurs(steps),
          isEnd: isSameRule(step, end.rule),
          ends: end.kind,
        }),
    );
    const isHere = !isOver && end.kind !== undefined && end.rule === undefined && name === end.hook;
    const all: Stop[] = isHere ? [...stops, kernelStop(proof, end.kind ?? 'dropped')] : stops;
    const shown = all.length > 0 ? all : [quietStop(name, isOver)];
    const wasOver = isOver;
    isOver ||= all.some(({ ends }) => ends !== undefined);
    const packet = steps.find((step) => step.packet)?.packet;
    const station = {
      name: name === '' ? 'elsewhere' : name,
      means,
      stops: wasOver ? shown.map((stop) => ({ ...stop, isBeyond: true })) : shown,
    };
    return packet === undefined ? station : { ...station, packet };
  });
  return {
    isProven: true,
    from: fromOf(answer, proof),
    stations,
    to: provenEnd(answer, proof),
    answer: answerText(proof),
  };
}

interface End {
  readonly kind: Stop['ends'];
  readonly rule?: MetRule;
  /** The station where the kernel dropped it. */
  readonly hook?: string;
}

const AFTER: Readonly<Record<string, string>> = {
  prerouting: 'routing',
  output: 'routing',
  ingress: 'prerouting',
  routing: 'routing',
};

function endOf({ outcome, steps, drop }: Proof): End {
  if (outcome.is === 'dropped' || outcome.is === 'rejected') {
    const isMet = steps.some((step) => isSameRule(step, outcome.by));
    return isMet
      ? { kind: outcome.is, rule: outcome.by }
      : { kind: outcome.is, hook: steps.at(-1)?.hook ?? 'prerouting' };
  }
  if (outcome.is === 'lost')
    return { kind: 'dropped', hook: AFTER[outcome.after] ?? outcome.after };
  if (drop?.isHere) return { kind: 'dropped', hook: 'postrouting' };
  return { kind: undefined };
}

/** The hook after which the destination is another one. */
function turnOf({ steps, outcome }: Proof): string | undefined {
  const first = steps.find(({ packet }) => packet)?.packet?.destination;
  const after = steps.find(({ packet }) => packet !== undefined && packet.destination !== first);
  if (after !== undefined) return steps[steps.indexOf(after) - 1]?.hook;
  return outcome.is === 'forwarded' ? steps.findLast(({ ours }) => ours)?.hook : undefined;
}

function lastOurs(steps: readonly ProofStep[]): number {
  return steps.findLastIndex(({ ours }) => ours);
}

function isSameRule(step: ProofStep, rule: MetRule | undefined): boolean {
  return (
    rule !== undefined &&
    step.table === rule.table &&
    step.chain === rule.chain &&
    step.handle === rule.handle
  );
}

function stopOf(
  step: ProofStep,
  place: { readonly isTurn: boolean; readonly isEnd: boolean; readonly ends: Stop['ends'] },
): Stop {
  const goesOn = step.target === undefined ? step.verdict : `${step.verdict} ${step.target}`;
  return {
    title: step.chain,
    by: `${step.table}${step.handle === undefined ? ', policy' : ` #${step.handle}`}`,
    does: step.does ?? goesOn,
    kind: step.ours ? 'ours' : 'foreign',
    ...(place.isTurn ? { isTurn: true } : {}),
    ...(place.isEnd && place.ends !== undefined ? { ends: place.ends } : {}),
  };
}

function kernelStop({ drop, outcome }: Proof, ends: NonNullable<Stop['ends']>): Stop {
  const device = drop === null || drop.device === '' ? '' : `, at ${drop.device}`;
  const by =
    outcome.is === 'dropped' || outcome.is === 'rejected'
      ? `${outcome.by.table} ${outcome.by.chain}`
      : `kernel${drop?.function ? `, ${drop.function}` : ''}${device}`;
  const title = drop?.reason ?? ends;
  return {
    title,
    by,
    does: drop?.cause.sentence ?? 'the packet did not come further; the kernel gives no reason',
    kind: 'kernel',
    ends,
  };
}

function quietStop(hook: string, isBeyond: boolean): Stop {
  const does = isBeyond
    ? 'not reached'
    : hook === 'routing'
      ? 'the kernel finds the interface'
      : 'no rule matched';
  return { title: hook === 'routing' ? 'route' : 'passes', by: 'kernel', does, kind: 'kernel' };
}

function provenEnd({ predicted, code }: PathAnswer, { outcome, answer, drop }: Proof): Way['to'] {
  const reaches = isLed(code);
  if (outcome.is === 'handed over')
    return {
      title: 'the forwarder',
      address: '',
      note: 'makes a connection of its own to an endpoint',
      isReached: outcome.reached !== false,
    };
  if (outcome.is === 'passed')
    return {
      title: 'not translated',
      address: '',
      note: 'goes where the routes lead',
      isReached: reaches,
    };
  if (outcome.is !== 'forwarded')
    return {
      title: 'endpoint',
      address: predicted.endpoints?.[0] ?? '',
      note: 'never saw it',
      isReached: false,
    };
  const isDropped = drop?.isHere === true;
  const note = isDropped
    ? 'never saw it'
    : answer.is === 'refused'
      ? 'refuses the connection'
      : answer.is === 'silent' && !reaches
        ? 'does not answer'
        : `sees ${outcome.seenAs}`;
  return { title: 'endpoint', address: outcome.endpoint, note, isReached: !isDropped && reaches };
}

function answerText({ answer, kind, outcome }: Proof): string {
  switch (answer.is) {
    case 'accepted':
      return `The endpoint accepted after ${milliseconds(answer.afterMs)}; its answer came back translated.`;
    case 'answered':
      return `A datagram came back after ${milliseconds(answer.afterMs)}.`;
    case 'refused':
      return `The client was rejected after ${milliseconds(answer.afterMs)}.`;
    case 'unreachable':
      return `The client got ${answer.code} after ${milliseconds(answer.afterMs)}.`;
    case 'silent':
      return kind === 'dry' && outcome.is === 'forwarded'
        ? 'The probe dropped its own packet after all rules: no answer was to come.'
        : 'No answer: the client waits until it gives up.';
  }
}

/** To an endpoint, as far as it was asked. */
function isLed(code: string): boolean {
  return code === 'REACHES' || code === 'WOULD_REACH';
}

/** What the rows say. Which hooks it passes is not known without a packet, so none is drawn. */
function predictedWay(answer: PathAnswer): Way {
  const { question, predicted, sentence } = answer;
  const { service, frontend } = question;
  const known = service === undefined ? 'no Service has it' : `is ${service}`;
  const target = frontend === '' ? question.target : frontend;
  const lookUp: Stop = { title: target, by: 'address and port', does: known, kind: 'ours' };
  const ends =
    predicted.action === 'reject'
      ? 'rejected'
      : predicted.action === 'drop'
        ? 'dropped'
        : undefined;
  const count = predicted.endpoints?.length ?? 0;
  const decision: Stop =
    ends === undefined
      ? {
          title: predicted.action === 'forward' ? 'forwarded' : 'not translated',
          by: `rows of ${answer.node}`,
          does:
            predicted.action === 'forward'
              ? `to ${count === 1 ? predicted.endpoints?.[0] : `one of ${count} endpoints`}`
              : sentence,
          kind: 'ours',
          isTurn: predicted.action === 'forward',
        }
      : { title: ends, by: `rows of ${answer.node}`, does: sentence, kind: 'ours', ends };
  const seen: Stop = {
    title: predicted.masquerade === true ? 'masqueraded' : 'source kept',
    by: 'source address',
    does:
      predicted.masquerade === true
        ? 'the endpoint sees an address of this node'
        : "the endpoint sees the client's address",
    kind: 'ours',
  };
  const isForwarded = predicted.action === 'forward';
  const stations: Station[] = [
    { name: 'address', means: 'what has this address', stops: [lookUp] },
    { name: 'decision', means: 'what the rows say', stops: [decision] },
    {
      name: 'source',
      means: 'who the endpoint sees',
      stops: [isForwarded ? seen : { ...seen, title: 'not reached', does: '', isBeyond: true }],
    },
  ];
  const to = {
    title: isForwarded ? 'endpoint' : 'no endpoint',
    address: count === 1 ? (predicted.endpoints?.[0] ?? '') : '',
    note: isForwarded ? (count === 1 ? 'predicted' : `one of ${count}, predicted`) : 'predicted',
    isReached: isLed(answer.code),
  };
  return {
    isProven: false,
    from: fromOf(answer, null),
    stations,
    to,
    answer:
      'Predicted from the rows. No packet was sent: routes, other rules and the endpoint itself are not in it.',
  };
}

import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { readEscapes } from '../../lab/network/capture.ts';
import type { Family } from '../../lab/network/plan.ts';
import { FAIRLEAD_PROXIES, type FairleadProxy } from '../../lab/proxies/fairlead-modes.ts';
import { httpGet } from '../../lab/servers/http-get.ts';
import { explainQuestion } from '../explain/ask-explain.ts';
import { Beside, type Explaining } from '../explain/beside.ts';
import { expectationOf } from '../known-difference.ts';
import { mapConcurrently } from '../runner/concurrently.ts';
import type { Answer, Question } from '../scenario.ts';
import type { World } from '../world.ts';
import { sourcesOf } from './counts.ts';
import { type Flow, openFlow } from './flow.ts';
import { type Circumstances, judge } from './judge.ts';
import { askName } from './name.ts';
import { type Outcome, outcomeOfError } from './outcome.ts';
import { askPing } from './ping.ts';
import {
  addressesOfNode,
  type ResolvedAsker,
  type ResolvedTarget,
  resolveAsker,
  resolveTarget,
} from './resolve.ts';
import { startStopwatch } from './stopwatch.ts';
import { untilRight } from './until-right.ts';

const AT_ONCE = 20;
/** A large datagram needs kernel memory for its fragments, in every namespace on its path. */
const PAYLOADS_AT_ONCE = 4;

interface AskedQuestion {
  readonly question: Question;
  readonly family: Family;
  readonly proxy: string;
  readonly network: string;
  /** `fairlead explain` is asked too, and must agree with the packets. */
  readonly explaining?: Explaining | undefined;
}

/** Undefined, or what was wrong when the time that is granted had passed; with none, at once. */
export async function askUntilRight(
  world: World,
  asked: AskedQuestion & { withinMs: number },
): Promise<string | undefined> {
  return await untilRight(() => askOnce(world, asked), asked);
}

async function askOnce(world: World, asked: AskedQuestion): Promise<string | undefined> {
  const { question, family } = asked;
  const wanted = expectationOf(question, asked);
  const from = resolveAsker(world, question.from, family);
  const to = resolveTarget(world, question.to, family);
  const before = wanted.escapes === undefined ? 0 : await escapedPackets(world, to);
  const count = question.connections ?? connectionsFor(world, wanted.expect);
  const circumstances = {
    ...circumstancesOf({ from, to, family }),
    resolvesTo: resolutionOf(world, wanted.expect, family),
    noted: 'keptAs' in wanted.expect ? world.noted(wanted.expect.keptAs, family) : undefined,
  };
  const volley = { from, to, count, sourcePort: question.sourcePort, bytes: question.bytes };
  const isEnough = (soFar: readonly Outcome[]): boolean => {
    const { expect } = wanted;
    return 'movesAmong' in expect && judge(expect, soFar, circumstances) === undefined;
  };
  const beside = besideOf(world, asked, { asker: question.from, from, to, family });
  await beside?.before();
  const outcomes = await connectAll(volley, { world, question, family, isEnough });
  if (question.noteAs) world.noteSources(question.noteAs, family, sourcesOf(outcomes));
  const fault = judge(wanted.expect, outcomes, circumstances);
  const where = `${question.from} → ${to.address} port ${to.port}/${to.protocol}`;
  if (fault !== undefined) return `${where}: ${fault}`;
  if (wanted.escapes !== undefined) {
    const escaped = (await escapedPackets(world, to)) - before;
    if (escaped > 0 !== wanted.escapes) return `${where}: ${escaped} packets reached the fabric`;
  }
  const { expect } = wanted;
  // A forwarder has an address of its own where it cannot have the client's.
  const keepsSources = proxyOf(asked.proxy)?.forwarder !== 'alive';
  const clients = [question.from, ...(question.alsoFrom ?? [])].map((asker) => ({
    asker,
    from: resolveAsker(world, asker, family),
  }));
  const packets = { clients, family, expect, outcomes, keepsSources };
  const differs = await beside?.after(packets);
  return differs && `${where}: ${differs}`;
}

function besideOf(
  world: World,
  { explaining, question }: AskedQuestion,
  of: Parameters<typeof explainQuestion>[1],
): Beside | undefined {
  const asked = explaining && explainQuestion(world, of);
  if (asked === undefined || explaining === undefined) return undefined;
  const isProven = question.inTurn === undefined;
  return new Beside(world, explaining, { ...asked, isProven });
}

function proxyOf(name: string): FairleadProxy | undefined {
  return FAIRLEAD_PROXIES.find((each) => each.name === name);
}

/** One question needs enough connections that a pod is missed, or sneaks in, less than once in 1e9. */
function connectionsFor(world: World, expected: Answer): number {
  if ('answeredBy' in expected || 'stickyTo' in expected || 'answeredOrSilent' in expected) {
    const serving = [...world.pods.values()].filter((pod) => pod.spec.labels['app'] !== 'asker');
    return serving.length <= 1 ? 2 : 20 * serving.length;
  }
  return 3;
}

interface Volley {
  readonly from: ResolvedAsker;
  readonly to: ResolvedTarget;
  readonly count: number;
  readonly sourcePort?: number | undefined;
  readonly bytes?: number | undefined;
}

interface Connecting {
  readonly world: World;
  readonly question: Question;
  readonly family: Family;
  readonly isEnough: (soFar: readonly Outcome[]) => boolean;
}

/** What became of all connections of a question, whoever they are from and wherever they go. */
async function connectAll(first: Volley, of: Connecting): Promise<Outcome[]> {
  const { world, question, family } = of;
  if (question.apartMs !== undefined) {
    return await connectApart(first, question.apartMs, of.isEnough);
  }
  const more = (question.alsoFrom ?? []).map((from) => resolveAsker(world, from, family));
  const others = (question.alsoTo ?? []).map((to) => resolveTarget(world, to, family));
  const volleys = [first.from, ...more].flatMap((from) =>
    [first.to, ...others].map((to) => ({ ...first, from, to })),
  );
  if (question.inTurn !== undefined) return await connectInTurn(volleys, question.inTurn);
  const outcomes: Outcome[] = [];
  for (const volley of volleys) outcomes.push(...(await connectMany(volley)));
  return outcomes;
}

/** One connection from each to each, and again, so that each is chosen for after the one before. */
async function connectInTurn(
  volleys: readonly Volley[],
  then: 'closed' | 'open',
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const open: Flow[] = [];
  const rounds = Math.max(...volleys.map(({ count }) => count));
  try {
    for (let round = 0; round < rounds; round++) {
      for (const { from, to, sourcePort, bytes } of volleys) {
        const flow = await openFlow(from, to, sourcePort);
        open.push(flow);
        outcomes.push(await flow.ask(bytes));
        if (then === 'closed') open.pop()?.close();
      }
    }
    return outcomes;
  } finally {
    for (const flow of open) flow.close();
  }
}

async function connectMany(volley: Volley): Promise<Outcome[]> {
  const atOnce = volley.bytes === undefined ? AT_ONCE : PAYLOADS_AT_ONCE;
  const all = Array.from({ length: volley.count }, () => volley);
  return await mapConcurrently(all, atOnce, connectOnce);
}

/**
 * A timeout in seconds, such as that of affinity, is renewed by every connection: it expires only
 * for a client that stays quiet for that long.
 */
async function connectApart(
  volley: Volley,
  apartMs: number,
  enough: (soFar: readonly Outcome[]) => boolean,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  while (outcomes.length < volley.count && !enough(outcomes)) {
    await delay(apartMs);
    outcomes.push(await connectOnce(volley));
  }
  return outcomes;
}

async function connectOnce({ from, to, sourcePort, bytes }: Volley): Promise<Outcome> {
  if (to.protocol === 'ICMP') return await askPing(from.origin, to);
  if (to.protocol === 'HTTP') return await requestStatus(from, to);
  if (to.name !== undefined) {
    return await askName({ ...from.origin, sourcePort }, { ...to, name: to.name });
  }
  const flow = await openFlow(from, to, sourcePort);
  try {
    return await flow.ask(bytes);
  } finally {
    flow.close();
  }
}

async function requestStatus(from: ResolvedAsker, to: ResolvedTarget): Promise<Outcome> {
  const lapse = startStopwatch();
  try {
    const answer = await httpGet(from.origin, { ...to, path: to.path ?? '/' });
    return { kind: 'status', status: answer.status, body: answer.body };
  } catch (error) {
    return outcomeOfError(error, lapse);
  }
}

function resolutionOf(world: World, expected: Answer, family: Family): string | undefined {
  if (!('resolvedTo' in expected)) return undefined;
  return resolveTarget(world, { clusterIP: expected.resolvedTo }, family).address;
}

export function circumstancesOf(of: {
  from: ResolvedAsker;
  to: ResolvedTarget;
  family: Family;
}): Circumstances {
  const translator = of.to.node ?? of.from.node;
  const node = translator === undefined ? [] : addressesOfNode(translator, of.family);
  const processors = availableParallelism();
  return { family: of.family, processors, sources: { own: of.from.ownAddresses, node } };
}

async function escapedPackets(world: World, to: ResolvedTarget): Promise<number> {
  const escapes = await readEscapes(world.lab.namespacePath('fabric'));
  return escapes
    .filter((e) => e.address === to.address && e.port === to.port && e.protocol === to.protocol)
    .reduce((sum, { packets }) => sum + packets, 0);
}

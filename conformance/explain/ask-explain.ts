import { LabError } from '../../lab/host/errors.ts';
import { type Family, nodeAddress, nodeName } from '../../lab/network/plan.ts';
import type { Outcome } from '../questions/outcome.ts';
import type { ResolvedAsker, ResolvedTarget } from '../questions/resolve.ts';
import type { Answer, Asker } from '../scenario.ts';
import type { World } from '../world.ts';
import { disagreement, type Predicted } from './agree.ts';
import type { ProofOfPacket } from './agree-proof.ts';
import type { AskedAt, Explainer } from './explainer.ts';

/** A connection of a scenario, as `fairlead explain` is asked about it on the node that translates. */
export interface ExplainQuestion {
  readonly at: AskedAt;
  readonly target: string;
  /** As `--from` takes it. */
  readonly client: string;
  /** The same with the network namespace that a packet is sent from. */
  readonly sender: string;
}

/** A client by its name, and where it is. */
export interface AskingClient {
  readonly asker: Asker;
  readonly from: ResolvedAsker;
}

/** What packets of a scenario did, and how they are compared. */
export interface AskedPackets {
  readonly clients: readonly AskingClient[];
  readonly family: Family;
  readonly expect: Answer;
  readonly outcomes: readonly Outcome[];
  /** Whether endpoints of this proxy see the client's address wherever the policy says so. */
  readonly keepsSources: boolean;
}

/** Undefined: the question is not one of connections through a node. */
export function explainQuestion(
  world: World,
  of: AskingClient & { readonly to: ResolvedTarget; readonly family: Family },
): ExplainQuestion | undefined {
  const { from, to, family, asker } = of;
  const node = to.node ?? from.node;
  const { protocol } = to;
  const isConnection = (protocol === 'TCP' || protocol === 'UDP') && to.name === undefined;
  if (node === undefined || !isConnection || world.outside !== undefined) return undefined;
  const address = family === 'ipv6' ? `[${to.address}]` : to.address;
  const target = `${address}:${to.port}/${protocol.toLowerCase()}`;
  const client = clientOf({ asker, from, node, family });
  const isOfNode = from.node === node && (asker.startsWith('pod:') || asker.startsWith('node'));
  const sender = client === 'host' ? client : `${client}@${from.origin.namespace}`;
  return { at: { node, isOfNode }, target, client, sender };
}

/** Undefined: what is predicted now is what the packets did. */
export async function predictionDisagrees(
  world: World,
  explainer: Explainer,
  of: { readonly question: ExplainQuestion; readonly packets: AskedPackets },
): Promise<string | undefined> {
  const { clients, family, expect, outcomes, keepsSources } = of.packets;
  const { at, target, client } = of.question;
  const { predicted, candidates } = await answerTo(explainer, at, { target, client });
  const keeping = candidates.filter(({ keepsSource }) => keepsSource);
  const keepingSource = keeping.map(({ endpoint }) => endpoint);
  const byNode = candidates.filter(({ nodeSource }) => nodeSource);
  const nodeSource = byNode.map(({ endpoint }) => endpoint);
  return disagreement({ ...predicted, keepingSource, nodeSource }, outcomes, {
    podAddresses: addressesOfPods(world, family),
    ownAddresses: clients.flatMap(({ from }) => from.ownAddresses),
    comparesSource: keepsSources && clients.every(({ asker }) => !asker.startsWith('node')),
    isExhaustive: 'answeredBy' in expect,
  });
}

/** Has a packet sent, in the way that `explain` itself chooses. */
export async function askForProof(
  explainer: Explainer,
  { at, target, sender }: ExplainQuestion,
): Promise<Explained> {
  return await answerTo(explainer, at, { target, client: sender, probe: 'usual' });
}

/** As `--from` takes it. */
function clientOf(of: AskingClient & { readonly node: number; readonly family: Family }): string {
  const { asker, from, node, family } = of;
  if (asker.startsWith('node')) {
    return from.node === node ? 'host' : nodeAddress(from.node ?? node)[family];
  }
  const [address = 'outside'] = from.ownAddresses;
  return asker.startsWith('pod:') && from.node === node ? `pod:${address}` : address;
}

async function answerTo(
  explainer: Explainer,
  at: AskedAt,
  of: { readonly target: string; readonly client: string; readonly probe?: string },
): Promise<Explained> {
  const { target, client, probe = 'none' } = of;
  const line = await explainer.ask(at, `${target} ${client} ${probe}`);
  const answer = JSON.parse(line) as Explained | { readonly error: ExplainError };
  if ('predicted' in answer) return answer;
  const { code, message } = answer.error;
  throw new LabError('LAB_COMMAND_FAILED', `explain ${target}: ${message} (${code})`, {
    next: `run it by hand: npm run lab -- fairlead ${nodeName(at.node)} explain ${target} --from ${client}`,
  });
}

/** The part of the output that is compared. */
export interface Explained {
  readonly code: string;
  readonly sentence: string;
  readonly predicted: Predicted;
  readonly candidates: readonly {
    readonly endpoint: string;
    readonly keepsSource?: true;
    readonly nodeSource?: true;
  }[];
  readonly proof: ProofOfPacket | null;
  readonly notProven?: string;
}

interface ExplainError {
  readonly code: string;
  readonly message: string;
}

/** A pod has all of its addresses; each further one answers by a name of its own, `crowd#7`. */
function addressesOfPods(world: World, family: Family): ReadonlyMap<string, readonly string[]> {
  const addresses = new Map<string, readonly string[]>();
  for (const [name, pod] of world.pods) {
    const more: string[] = [];
    for (let number = 1; ; number++) {
      const pair = pod.numbered(number);
      if (pair === undefined) break;
      more.push(pair[family]);
      addresses.set(`${name}#${number}`, [pair[family]]);
    }
    addresses.set(name, [pod.address[family], ...more]);
  }
  return addresses;
}

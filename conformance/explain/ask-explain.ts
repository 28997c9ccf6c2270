import { LabError } from '../../lab/host/errors.ts';
import { type Family, nodeAddress, nodeName } from '../../lab/network/plan.ts';
import type { Outcome } from '../questions/outcome.ts';
import type { ResolvedAsker, ResolvedTarget } from '../questions/resolve.ts';
import type { Answer, Asker } from '../scenario.ts';
import type { World } from '../world.ts';
import { disagreement, type Predicted } from './agree.ts';
import type { Explainer } from './explainer.ts';

/** The largest number of an additional address of a pod that is looked up. */
const MOST_NUMBERED = 4_000;

export interface AskedPackets {
  readonly asker: Asker;
  readonly from: ResolvedAsker;
  readonly to: ResolvedTarget;
  readonly family: Family;
  readonly expect: Answer;
  readonly outcomes: readonly Outcome[];
  /** Whether endpoints of this proxy see the client's address wherever the policy says so. */
  readonly keepsSources: boolean;
}

/**
 * Asks the agent of the node that translates what happens to this connection, and compares it with
 * what has happened. Undefined: they agree, or the question is not one of connections through a
 * node.
 */
export async function explainDisagrees(
  world: World,
  explainer: Explainer,
  asked: AskedPackets,
): Promise<string | undefined> {
  const { from, to, family, expect, asker } = asked;
  const node = to.node ?? from.node;
  const { protocol } = to;
  const isConnection = (protocol === 'TCP' || protocol === 'UDP') && to.name === undefined;
  if (node === undefined || !isConnection || world.outside !== undefined) return undefined;
  const address = family === 'ipv6' ? `[${to.address}]` : to.address;
  const target = `${address}:${to.port}/${protocol.toLowerCase()}`;
  const client = clientOf({ asker, from, node, family });
  const predicted = await predictedAt(explainer, node, { target, client });
  return disagreement(predicted, asked.outcomes, {
    podAddresses: addressesOfPods(world, family),
    ownAddresses: from.ownAddresses,
    comparesSource: asked.keepsSources && !asker.startsWith('node'),
    isExhaustive: 'answeredBy' in expect,
  });
}

/** As `--from` takes it. */
function clientOf(of: {
  readonly asker: Asker;
  readonly from: ResolvedAsker;
  readonly node: number;
  readonly family: Family;
}): string {
  const { asker, from, node, family } = of;
  if (asker.startsWith('node')) {
    return from.node === node ? 'host' : nodeAddress(from.node ?? node)[family];
  }
  const [address = 'outside'] = from.ownAddresses;
  return asker.startsWith('pod:') && from.node === node ? `pod:${address}` : address;
}

async function predictedAt(
  explainer: Explainer,
  node: number,
  { target, client }: { readonly target: string; readonly client: string },
): Promise<Predicted> {
  const answer = JSON.parse(await explainer.ask(node, `${target} ${client}`)) as Answered;
  if ('predicted' in answer) {
    const keeping = answer.candidates.filter(({ keepsSource }) => keepsSource);
    return { ...answer.predicted, keepingSource: keeping.map(({ endpoint }) => endpoint) };
  }
  const { code, message } = answer.error;
  throw new LabError('LAB_COMMAND_FAILED', `explain ${target}: ${message} (${code})`, {
    next: `run it by hand: npm run lab -- fairlead ${nodeName(node)} explain ${target} --from ${client}`,
  });
}

type Answered =
  | {
      readonly predicted: Predicted;
      readonly candidates: readonly { readonly endpoint: string; readonly keepsSource?: true }[];
    }
  | { readonly error: { readonly code: string; readonly message: string } };

function addressesOfPods(world: World, family: Family): ReadonlyMap<string, readonly string[]> {
  return new Map(
    [...world.pods].map(([name, pod]) => {
      const more: string[] = [];
      for (let number = 1; number <= MOST_NUMBERED; number++) {
        const pair = pod.numbered(number);
        if (pair === undefined) break;
        more.push(pair[family]);
      }
      return [name, [pod.address[family], ...more]];
    }),
  );
}

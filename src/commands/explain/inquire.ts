import { canonicalIp } from '../../addresses/ip.ts';
import type { RowState } from '../../agent/row-state.ts';
import { readStatus } from '../../agent/servers/status-client.ts';
import type { StatusPage } from '../../agent/status-page.ts';
import type { LeftObjects } from '../../explain/absent-agent.ts';
import { worstOf } from '../../explain/asked-addresses.ts';
import { withBeyond } from '../../explain/beyond.ts';
import { explanationOf } from '../../explain/explain.ts';
import type { AgentWord, Explanation } from '../../explain/explanation.ts';
import type { NotPermitted, ProvenPacket } from '../../explain/proof/proof.ts';
import { parseTarget, type Target } from '../../explain/target.ts';
import type { AskedEndpoint } from '../../explain/why-not.ts';
import { servicePortKey } from '../../forwarding/model.ts';
import { statusWordsOf } from '../../modes/mode-registry.ts';
import { agentError } from '../basis/ask-agent.ts';
import type { Basis } from '../basis/basis.ts';
import { leftInKernel } from '../basis/left-in-kernel.ts';
import { CommandError, WRONG_USAGE_EXIT } from '../command-error.ts';
import { detachedNames, disturberOf, troublesOf } from '../status/trouble.ts';
import { visible } from '../terminal/visible.ts';
import { EachAsker } from './ask-each.ts';
import { readFrom } from './from.ts';
import { type Grounds, groundsOf } from './grounds.ts';
import type { Inquiry, PredictedCase } from './inquiry.ts';
import { type Pod, podOfCluster, podOfManifests } from './pod-of-cluster.ts';
import { packetFor } from './proof/packet.ts';
import type { WantedProbe } from './proof/probe-kind.ts';
import { namedCasesOf } from './zero/named-case.ts';
import { withAbsence, zerosFor } from './zero/zeros-for.ts';

/** What is asked besides the target. */
export interface AskOptions {
  readonly from: string;
  readonly whyNot?: string;
  readonly probe?: WantedProbe;
  /** One of the addresses of a Service. */
  readonly at?: string;
  readonly each?: true;
  readonly size?: number;
  /** Context of the kubeconfig that Pods are read with. */
  readonly context?: string;
  /** No more is read than the rows: for many questions, and for objects that exist nowhere yet. */
  readonly areRowsEnough?: boolean;
}

export function targetFrom(text: string): Target {
  const target = parseTarget(text);
  if (target !== undefined) return target;
  throw new CommandError(`'${visible(text)}' is neither a Service nor an address with a port`, {
    code: 'USAGE',
    next: 'use namespace/name[:port], ADDRESS:PORT or [IPV6]:PORT; with /udp or /sctp for these',
    exitCode: WRONG_USAGE_EXIT,
  });
}

export async function inquire(
  basis: Basis,
  asked: { readonly text: string; readonly target: Target; readonly options: AskOptions },
): Promise<Inquiry> {
  const { text, target, options } = asked;
  const find = async (name: string): Promise<Pod> => {
    const pod = await podNamed(name, basis, options);
    if (pod !== undefined) return pod;
    throw new CommandError(`pod ${visible(name)} does not exist, or the manifests do not have it`, {
      code: 'POD_NOT_FOUND',
      next: 'check the name with `kubectl get pods -A`, or give its address instead',
    });
  };
  const from = await readFrom(options.from, find);
  const { probe, at, each, size, context } = options;
  const around = options.areRowsEnough ? {} : { around: { context, found: new Map() } };
  const inquiry = { basis, text, target, from, probe, at, each, size, ...around };
  if (options.whyNot === undefined) return inquiry;
  const whyNot = await askedEndpoint(options.whyNot, target, find);
  // A packet goes to any endpoint.
  return { ...inquiry, whyNot, probe: 'none' };
}

/** Manifests have what they have; of a cluster pods are read with the person's own credentials. */
async function podNamed(
  name: string,
  basis: Basis,
  { context }: AskOptions,
): Promise<Pod | undefined> {
  const { from, config } = basis.by === 'agent' ? basis.apart : basis;
  if (from.filename !== undefined) return await podOfManifests(name, from.filename);
  const kubeconfig = basis.by === 'agent' ? undefined : config.settings.api.kubeconfigPath;
  return await podOfCluster(name, { kubeconfig, context });
}

async function askedEndpoint(
  text: string,
  target: Target,
  find: (name: string) => Promise<Pod>,
): Promise<AskedEndpoint> {
  const address = canonicalIp(text);
  if (address !== undefined) return { name: address, addresses: [address] };
  const [namespace] = target.by === 'service' ? target.service.split('/') : ['default'];
  const { name, addresses, says } = await find(text.includes('/') ? text : `${namespace}/${text}`);
  return { name, addresses, ...(says === undefined ? {} : { podSays: says }) };
}

export async function groundsFor({ basis, target }: Inquiry): Promise<Grounds> {
  return await groundsOf(basis, target.by === 'service' ? target.service : undefined);
}

/** For packets to all addresses together: each may take seconds to stay silent. */
const MOST_PROVING_MS = 20_000;

/** What happens at the worst of all addresses that the target stands for. */
export async function explainAll(inquiry: Inquiry, grounds: Grounds): Promise<Explanation> {
  const all: Explanation[] = [];
  const endpoints = new EachAsker(inquiry, grounds, (one) => explainCase(inquiry, grounds, one));
  const startedAtMs = performance.now();
  for (const each of await namedCasesOf(inquiry, grounds)) {
    const isLate = performance.now() - startedAtMs > MOST_PROVING_MS;
    const given = isLate ? 'other addresses took all the time: --at asks this one' : undefined;
    const whole = await explainCase(inquiry, grounds, { ...each, ...(given ? { given } : {}) });
    all.push(await endpoints.refine(whole, each));
  }
  return withBeyond(worstOf(all));
}

/** What happens at the first of its addresses. `given`: a packet, or why there is none. */
export async function explainOnce(
  inquiry: Inquiry,
  grounds: Grounds,
  given?: ProvenPacket | NotPermitted | string,
): Promise<Explanation> {
  const [first] = await namedCasesOf(inquiry, grounds);
  return await explainCase(inquiry, grounds, { ...first, ...(given ? { given } : {}) });
}

/** `given` undefined: a packet is sent where it can be. */
async function explainCase(
  inquiry: Inquiry,
  grounds: Grounds,
  {
    asked,
    prediction,
    given,
  }: PredictedCase & { readonly given?: ProvenPacket | NotPermitted | string },
): Promise<Explanation> {
  const { rows } = grounds;
  const { basis } = inquiry;
  const row = 'row' in prediction ? prediction.row : undefined;
  const all = row ? await grounds.details(`${row.id.namespace}/${row.id.service}`) : [];
  const own = all.find(
    ({ forwarding }) => row && servicePortKey(forwarding.id) === servicePortKey(row.id),
  );
  const around = { prediction, rows: all, view: grounds.place.view };
  const whyNot = await withAbsence(inquiry, around);
  // Why this endpoint is missing says more than why all are.
  const isAbsent = whyNot?.absence !== undefined;
  const zeros = isAbsent ? { remarks: [], next: [] } : await zerosFor(inquiry, around);
  const packet = given ?? (await packetFor(asked, { ...inquiry, prediction, rows }));
  const left = await leftWithoutAgent(basis);
  return explanationOf(asked, prediction, {
    details: own ?? { candidates: [] },
    agent: await askAgentWord(basis, own?.kernel),
    ...(left === undefined ? {} : { left }),
    ...(whyNot === undefined ? {} : { whyNot }),
    zeros,
    ...(packet === undefined ? {} : { packet }),
  });
}

/** Undefined: this machine has an agent, or another one is asked about. */
async function leftWithoutAgent(basis: Basis): Promise<LeftObjects | undefined> {
  if (basis.by === 'agent' || basis.missingAgent === undefined) return undefined;
  const left = await leftInKernel({ ebpf: basis.config.settings.ebpf });
  return { ...left, agentIs: basis.missingAgent };
}

/** Asks the agent whether the kernel has what it wants; null: there is no agent to ask. */
async function askAgentWord(basis: Basis, row: RowState | undefined): Promise<AgentWord | null> {
  if (basis.by !== 'agent') return null;
  try {
    const page = (await readStatus({ socketPath: basis.socketPath })) as StatusPage;
    const disturber = disturberOf(page);
    return {
      pid: basis.agent.pid,
      ...(row === undefined ? {} : { row }),
      detached: detachedNames(page),
      ...(disturber === undefined ? {} : { disturber }),
      troubles: troublesOf(page, await statusWordsOf(page.mode)),
    };
  } catch (error) {
    throw agentError(error);
  }
}

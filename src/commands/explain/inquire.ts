import { canonicalIp } from '../../addresses/ip.ts';
import type { RowState } from '../../agent/row-state.ts';
import { readStatus } from '../../agent/servers/status-client.ts';
import type { StatusPage } from '../../agent/status-page.ts';
import { explanationOf } from '../../explain/explain.ts';
import type { AgentWord, Explanation } from '../../explain/explanation.ts';
import type { NotPermitted, ProvenPacket } from '../../explain/proof/proof.ts';
import { parseTarget, type Target } from '../../explain/target.ts';
import type { AskedEndpoint } from '../../explain/why-not.ts';
import { servicePortKey } from '../../forwarding/model.ts';
import { statusWordsOf } from '../../modes/mode-registry.ts';
import { agentError } from '../basis/ask-agent.ts';
import type { Basis } from '../basis/basis.ts';
import { CommandError, WRONG_USAGE_EXIT } from '../command-error.ts';
import { detachedNames, disturberOf, troublesOf } from '../status/trouble.ts';
import { visible } from '../terminal/visible.ts';
import { readFrom } from './from.ts';
import { type Grounds, groundsOf } from './grounds.ts';
import type { Inquiry } from './inquiry.ts';
import { type Pod, podOfCluster, podOfManifests } from './pod-of-cluster.ts';
import { packetFor } from './proof/packet.ts';
import type { WantedProbe } from './proof/probe-kind.ts';
import { namedCaseOf } from './zero/named-case.ts';
import { withAbsence, zerosFor } from './zero/zeros-for.ts';

/** What is asked besides the target. */
export interface AskOptions {
  readonly from: string;
  readonly whyNot?: string;
  readonly probe?: WantedProbe;
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
  const { probe, context } = options;
  const around = options.areRowsEnough ? {} : { around: { context } };
  if (options.whyNot === undefined) return { basis, text, target, from, probe, ...around };
  const whyNot = await askedEndpoint(options.whyNot, target, find);
  // A packet goes to any endpoint.
  return { basis, text, target, from, whyNot, probe: 'none', ...around };
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

/** `given`: a packet, or why there is none; undefined: one is sent where it can be. */
export async function explainOnce(
  inquiry: Inquiry,
  grounds: Grounds,
  given?: ProvenPacket | NotPermitted | string,
): Promise<Explanation> {
  const { rows } = grounds;
  const { basis } = inquiry;
  const { asked, prediction, remarks } = await namedCaseOf(inquiry, grounds);
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
  return explanationOf(asked, prediction, {
    details: own ?? { candidates: [] },
    agent: await askAgentWord(basis, own?.kernel),
    ...(whyNot === undefined ? {} : { whyNot }),
    remarks,
    zeros,
    ...(packet === undefined ? {} : { packet }),
  });
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

import { hostname } from 'node:os';
import type { AgentNode } from '../../agent/servers/agent-node.ts';
import { formatProblem } from '../../config/config-problem.ts';
import type { FlagName } from '../../config/flags/flag-table.ts';
import type { GivenFlags } from '../../config/flags/read.ts';
import { buildConfig, type LoadedConfig, loadConfig, overlaid } from '../../config/load-config.ts';
import type { ModeName } from '../../config/modes.ts';
import type { NodeFacts } from '../../dataplanes/contract.ts';
import { CommandError } from '../command-error.ts';
import type { SourceOptions } from '../open-source.ts';
import { printWarning } from '../terminal/print.ts';
import type { About } from './about.ts';
import { type AskedAgent, askAgent } from './ask-agent.ts';
import type { BasisOptions } from './basis-options.ts';

/** Configuration and objects: enough to compute the rows of a node. */
export interface SourceBasis {
  readonly by: 'source';
  readonly config: LoadedConfig;
  readonly nodeName: string;
  readonly from: SourceOptions;
  /** Whether the node is this machine, whose addresses and sockets then apply. */
  readonly isThisMachine: boolean;
  /** It is this machine, by its own configuration, and its agent does not run, or does not answer. */
  readonly missingAgent?: 'absent' | 'silent';
  readonly about: About;
}

/** The agent of this machine, which has the rows of its node. */
export interface AgentBasis {
  readonly by: 'agent';
  readonly agent: AgentNode;
  readonly socketPath: string;
  readonly config: LoadedConfig;
  readonly nodeName: string;
  readonly about: About;
  /** The same configuration and cluster, for what the agent cannot answer. */
  readonly apart: SourceBasis;
}

export type Basis = AgentBasis | SourceBasis;

export interface BasisRequest {
  readonly flags: GivenFlags;
  readonly options: BasisOptions;
  /** Overrides file, flags and agent. */
  readonly mode?: ModeName;
  /** An agent that does not answer is no error: the answer says so. */
  readonly outlivesAgent?: true;
}

/** Options that select another cluster or configuration than the agent has. */
const WITHOUT_AGENT: readonly FlagName[] = ['config', 'kubeconfig', 'master'];

/** The agent of this machine by default; else what the options select. */
export async function findBasis(request: BasisRequest): Promise<Basis> {
  const { flags, options } = request;
  const isApart =
    options.filename !== undefined ||
    options.context !== undefined ||
    WITHOUT_AGENT.some((name) => flags.has(name));
  const asked = isApart ? { state: 'absent' as const } : await askOrSilent(request);
  if (asked.state === 'answers') return agentBasis(request, asked.node, asked.socketPath);
  if (asked.state === 'forbidden') {
    printWarning('an agent runs on this machine, but only root may query it');
  }
  const basis = sourceBasis(request, await configOf(request));
  const isMissed = !isApart && asked.state !== 'forbidden' && basis.isThisMachine;
  return isMissed ? { ...basis, missingAgent: asked.state } : basis;
}

async function askOrSilent({
  options,
  outlivesAgent,
}: BasisRequest): Promise<AskedAgent | { readonly state: 'silent' }> {
  try {
    return await askAgent(options.runFolder);
  } catch (error) {
    const isSilent = error instanceof CommandError && error.code === 'STATUS_TIMEOUT';
    if (isSilent && outlivesAgent) return { state: 'silent' };
    throw error;
  }
}

async function configOf({ flags, mode }: BasisRequest): Promise<LoadedConfig> {
  const config = await loadConfig(flags);
  for (const warning of config.warnings) printWarning(formatProblem(warning));
  return mode === undefined ? config : overlaid(config, new Map([['proxy-mode', [mode]]]));
}

function agentBasis(request: BasisRequest, agent: AgentNode, socketPath: string): Basis {
  const { flags, options, mode } = request;
  const text = { path: `configuration of the agent (pid ${agent.pid})`, text: agent.configuration };
  const master = agent.serverUrl === undefined ? [] : [['master', [agent.serverUrl]] as const];
  const own = buildConfig(new Map(master), text);
  const winning = new Map(flags);
  if (mode !== undefined && mode !== agent.mode) winning.set('proxy-mode', [mode]);
  const config = winning.size === 0 ? own : overlaid(own, winning);
  const { pid, nodeName, mode: agentMode } = agent;
  const apart = sourceBasis(
    {
      ...request,
      flags: winning,
      options: { ...options, ...(agent.manifests ? { filename: agent.manifests } : {}) },
    },
    config,
    agent,
  );
  const isOther = winning.size > 0 || apart.nodeName !== nodeName;
  if (isOther) return apart;
  const about: About = {
    configuration: 'agent',
    objects: 'agent',
    node: nodeName,
    mode: agentMode,
    agent: { pid, nodeName, mode: agentMode },
  };
  return { by: 'agent', agent, socketPath, config, nodeName, about, apart };
}

function sourceBasis(
  { flags, options, mode }: BasisRequest,
  config: LoadedConfig,
  agent?: AgentNode,
): SourceBasis {
  const { settings, wishes } = config;
  const own = settings.nodeName ?? agent?.nodeName ?? hostname().toLowerCase();
  const nodeName = options.node ?? own;
  const { filename, context } = options;
  const given = flagTexts(flags, mode);
  return {
    by: 'source',
    config,
    nodeName,
    from: { filename, context },
    isThisMachine: nodeName === own && (filename === undefined || agent !== undefined),
    about: {
      configuration: agent
        ? 'agent'
        : (flags.get('config')?.at(-1) ?? wishes.configPath ?? 'defaults'),
      objects: filename ?? 'cluster',
      node: nodeName,
      mode: settings.mode,
      ...(agent ? { agent: { pid: agent.pid, nodeName: agent.nodeName, mode: agent.mode } } : {}),
      ...(given.length === 0 ? {} : { flags: given }),
    },
  };
}

/**
 * Whether nobody has said which addresses pods have: a configuration without a range is an answer,
 * defaults are none.
 */
export function isPodRangeUnknown(
  { about, config }: Basis,
  { podDetection }: Pick<NodeFacts, 'podDetection'>,
): boolean {
  const isKnown = podDetection.IPv4 !== undefined || podDetection.IPv6 !== undefined;
  const { by } = config.settings.localTraffic;
  return (
    !isKnown && (by === 'NodeCIDR' || (by === 'ClusterCIDR' && about.configuration === 'defaults'))
  );
}

/** `--cluster-cidr 10.1.0.0/16`; the file is named apart, and the node in every line. */
function flagTexts(flags: GivenFlags, mode: ModeName | undefined): string[] {
  const texts = [...flags]
    .filter(([name]) => name !== 'config' && (name !== 'proxy-mode' || mode === undefined))
    .flatMap(([name, values]) => values.map((value) => `--${name} ${value}`));
  return mode === undefined ? texts : [`--mode ${mode}`, ...texts];
}

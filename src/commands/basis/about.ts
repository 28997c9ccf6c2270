import type { AgentNode } from '../../agent/servers/agent-node.ts';

/** Where an answer comes from: as data, and as one line. */
export interface About {
  /** A path for a file. */
  readonly configuration: 'agent' | 'defaults' | (string & {});
  /** Paths for manifests. */
  readonly objects: 'agent' | 'cluster' | readonly string[];
  readonly node: string;
  readonly mode: string;
  /** The version of the agent. */
  readonly agent?: Pick<AgentNode, 'pid' | 'nodeName' | 'mode'>;
  /** Flags that override the agent or the file. */
  readonly flags?: readonly string[];
}

/** `from the agent on node1 (nftables, pid 4121)`, `from config.yaml, node node1 (nftables)`. */
export function aboutText(about: About): string {
  const { agent, flags = [] } = about;
  const given = flags.length === 0 ? '' : ` with ${flags.join(' ')}`;
  const who = `, node ${about.node} (${about.mode})`;
  if (agent === undefined) return `from ${originOf(about)}${given}${who}`;
  const asked = `from the agent on ${agent.nodeName} (${agent.mode}, pid ${agent.pid})`;
  if (about.objects === 'agent') return asked;
  const objects = about.objects === 'cluster' ? 'its cluster' : objectsText(about);
  return `${asked} and ${objects}${given}${who}`;
}

function originOf(about: About): string {
  const { configuration } = about;
  if (configuration === 'defaults') return objectsText(about);
  return about.objects === 'cluster' ? configuration : `${configuration} and ${objectsText(about)}`;
}

function objectsText({ objects }: About): string {
  if (objects === 'cluster' || objects === 'agent') return `the ${objects}`;
  return objects.map((path) => (path === '-' ? 'standard input' : path)).join(', ');
}

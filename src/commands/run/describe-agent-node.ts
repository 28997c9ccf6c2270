import { readlinkSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Agent } from '../../agent/agent.ts';
import type { AgentNode } from '../../agent/servers/agent-node.ts';
import { STANDARD_INPUT } from '../../cluster/manifests/manifest-files.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { toGivenYaml } from '../../config/write.ts';
import { VERSION } from './program-version.ts';

/** What the running process reports to commands about itself. */
export function agentNode(parts: {
  readonly agent: Pick<Agent, 'table' | 'facts' | 'missing'>;
  readonly nodeName: string;
  readonly currentConfig: () => LoadedConfig;
  readonly manifests?: readonly string[];
}): AgentNode {
  const { agent, nodeName, manifests } = parts;
  const { settings, fields } = parts.currentConfig();
  const { serverUrl } = settings.api;
  return {
    pid: process.pid,
    version: VERSION,
    nodeName,
    mode: settings.mode,
    networkNamespace: ownNetworkNamespace(),
    configuration: toGivenYaml(fields),
    ...(serverUrl === undefined ? {} : { serverUrl }),
    ...(manifests === undefined ? {} : { manifests: manifests.map(absolute) }),
    view: agent.table.view,
    facts: agent.facts,
    missing: agent.missing(),
  };
}

/** `net:[4026531840]`: two processes with the same text see the same rules and programs. */
export function ownNetworkNamespace(): string {
  return readlinkSync('/proc/self/ns/net');
}

function absolute(path: string): string {
  return path === STANDARD_INPUT ? path : resolve(path);
}

import { readFileSync } from 'node:fs';
import { capabilitiesIn } from '../../linux/capabilities.ts';
import { check } from '../check.ts';
import { ok, problem } from '../finding.ts';

interface Facts {
  readonly mode: string;
  readonly needed: readonly string[];
  /** Undefined: there is no agent to ask for. */
  readonly held: ReadonlySet<string> | undefined;
}

export const AGENT_CAPABILITIES = check<Facts>({
  name: 'agent-capabilities',
  read: ({ agent, modes, usedMode }) => ({
    mode: usedMode,
    needed: modes.find(({ name }) => name === usedMode)?.capabilities ?? [],
    held:
      agent.state === 'answers'
        ? capabilitiesIn(readFileSync(`/proc/${agent.pid}/status`, 'utf8'))
        : undefined,
  }),
  judge: ({ mode, needed, held }) => {
    if (held === undefined) return [ok('capabilities: no agent to ask for')];
    const missing = needed.filter((name) => !held.has(name));
    if (missing.length === 0) return [ok(`the agent has CAP_${needed.join(', CAP_')}`)];
    return [
      problem('CAPABILITY_MISSING', {
        what: `the agent lacks CAP_${missing.join(', CAP_')}`,
        why: `mode ${mode} needs it to write to the kernel`,
        next: 'add it to securityContext.capabilities of the DaemonSet, or to AmbientCapabilities of the unit',
      }),
    ];
  },
});

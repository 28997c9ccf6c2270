import { existsSync, readFileSync } from 'node:fs';
import { capabilitiesIn } from '../../linux/capabilities.ts';
import { check } from '../doctor-check.ts';
import { ok, problem } from '../finding.ts';

/** Node names its first thread; `src/main.ts` names it again. */
const OWN_NAME = /^Name:\tfairlead$/m;

interface Facts {
  readonly mode: string;
  readonly needed: readonly string[];
  /** Undefined: there is no agent, or it is in another PID namespace. */
  readonly held: ReadonlySet<string> | undefined;
}

export const AGENT_CAPABILITIES = check<Facts>({
  name: 'agent-capabilities',
  read: ({ agent, modes, usedMode }) => ({
    mode: usedMode,
    needed: modes.find(({ name }) => name === usedMode)?.capabilities ?? [],
    held: agent.state === 'answers' ? capabilitiesOf(agent.pid) : undefined,
  }),
  judge: ({ mode, needed, held }) => {
    if (held === undefined) return [ok('the process of an agent is not visible from here')];
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

/** The number is that of the agent's own PID namespace: here another process may have it. */
function capabilitiesOf(pid: number): ReadonlySet<string> | undefined {
  const path = `/proc/${pid}/status`;
  if (!existsSync(path)) return undefined;
  const status = readFileSync(path, 'utf8');
  return OWN_NAME.test(status) ? capabilitiesIn(status) : undefined;
}

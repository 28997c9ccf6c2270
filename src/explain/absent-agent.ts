import type { JoinedCode } from './codes.ts';

/** What the kernel of a machine without an agent has of Fairlead's. */
export type LeftInKernel =
  | { readonly is: 'nothing' }
  /** Rules that a process wrote which has ended. */
  | { readonly is: 'rules' }
  /** It could not be read. */
  | { readonly is: 'unknown'; readonly why: string };

interface Absence {
  readonly code: Extract<JoinedCode, 'NOT_RUNNING' | 'AGENT_GONE'>;
  readonly sentence: string;
  readonly next: readonly string[];
}

/** What the rows say does not happen by itself: an agent must have written them. */
export function absenceOf(left: LeftInKernel, service: string): Absence {
  const start =
    'start the agent: its log, or `journalctl -u fairlead`, has the reason why it ended';
  switch (left.is) {
    case 'nothing':
      return {
        code: 'NOT_RUNNING',
        sentence: `no agent runs on this machine, and its kernel has no rules of Fairlead: nothing forwards to ${service}`,
        next: [start, 'of another node: --node NAME'],
      };
    case 'rules':
      return {
        code: 'AGENT_GONE',
        sentence: `no agent runs on this machine, and the kernel forwards to ${service} as the last one left it: no change arrives`,
        next: [start],
      };
    case 'unknown':
      return {
        code: 'AGENT_GONE',
        sentence: `no agent runs on this machine, and what its kernel forwards is not known: ${left.why}`,
        next: [start, 'run the command as root'],
      };
  }
}

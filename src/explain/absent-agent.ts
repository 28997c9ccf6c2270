import type { JoinedCode } from './codes.ts';

/** What the kernel of a machine without an agent has of Fairlead's. */
export interface LeftObjects {
  /** `1 tables`, as `fairlead cleanup` counts them. */
  readonly objects: readonly string[];
  /** What could not be read, with the reason. */
  readonly unread: readonly string[];
}

interface Absence {
  readonly code: Extract<JoinedCode, 'NOT_RUNNING' | 'AGENT_GONE'>;
  readonly sentence: string;
  readonly next: readonly string[];
}

/** What the rows say does not happen by itself: an agent must have written them. */
export function absenceOf({ objects, unread }: LeftObjects, service: string): Absence {
  const start =
    'start the agent: its log, or `journalctl -u fairlead`, has the reason why it ended';
  if (objects.length > 0) {
    return {
      code: 'AGENT_GONE',
      sentence: `no agent runs on this machine, and the kernel forwards to ${service} as the last one left it: no change arrives`,
      next: [start],
    };
  }
  if (unread.length > 0) {
    return {
      code: 'AGENT_GONE',
      sentence: `no agent runs on this machine, and what its kernel forwards is not known: ${unread.join('; ')}`,
      next: [start, 'run the command as root'],
    };
  }
  return {
    code: 'NOT_RUNNING',
    sentence: `no agent runs on this machine, and its kernel has no rules of Fairlead: nothing forwards to ${service}`,
    next: [start, 'of another node: --node NAME'],
  };
}

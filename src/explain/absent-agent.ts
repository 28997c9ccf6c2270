import type { JoinedCode } from './codes.ts';

/** What the kernel of a machine without an agent has of Fairlead's. */
export interface LeftObjects {
  /** `1 tables`, as `fairlead cleanup` counts them. */
  readonly objects: readonly string[];
  /** What could not be read, with the reason. */
  readonly unread: readonly string[];
  readonly agentIs: 'absent' | 'silent';
}

interface Absence {
  readonly code: Extract<JoinedCode, 'NOT_RUNNING' | 'AGENT_GONE' | 'AGENT_SILENT'>;
  readonly sentence: string;
  readonly next: readonly string[];
}

const WORDS = {
  absent: {
    code: 'AGENT_GONE',
    what: 'no agent runs on this machine',
    next: 'start the agent: its log, or `journalctl -u fairlead`, has the reason why it ended',
  },
  silent: {
    code: 'AGENT_SILENT',
    what: 'the agent of this machine does not answer: it is stopped, or too busy',
    next: 'fairlead doctor',
  },
} as const;

/** What the rows say does not happen by itself: an agent must have written them. */
export function absenceOf({ objects, unread, agentIs }: LeftObjects, service: string): Absence {
  const { code, what, next } = WORDS[agentIs];
  if (objects.length > 0) {
    const sentence = `${what}; the kernel forwards to ${service} as it was left, and no change arrives`;
    return { code, sentence, next: [next] };
  }
  if (unread.length > 0) {
    const sentence = `${what}; what its kernel forwards is not known: ${unread.join('; ')}`;
    return { code, sentence, next: [next, 'run the command as root'] };
  }
  const sentence = `${what}, and its kernel has no rules of Fairlead: nothing forwards to ${service}`;
  return { code: 'NOT_RUNNING', sentence, next: [next, 'of another node: --node NAME'] };
}

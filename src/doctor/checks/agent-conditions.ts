import type { Condition, Conditions } from '../../agent/conditions.ts';
import { check } from '../doctor-check.ts';
import { type Finding, note, orOk, problem } from '../finding.ts';
import type { AgentState } from '../subject.ts';

/** The conditions of the agent that Services depend on, and what it means where they are false. */
const SAID: readonly {
  readonly conditionOf: (conditions: Conditions) => Condition;
  readonly make: typeof note;
  readonly code: string;
  readonly subject: string;
  readonly why: string;
  readonly next: string;
}[] = [
  {
    conditionOf: ({ apiFresh }) => apiFresh,
    make: problem,
    code: 'API_STALE',
    subject: 'nothing is heard of the API server',
    why: 'the kernel keeps what was known last: endpoints that ended still get connections',
    next: 'check that the API server runs and that this node reaches it; `fairlead status` has its answer',
  },
  {
    conditionOf: ({ firstSync }) => firstSync,
    make: problem,
    code: 'NOT_SYNCED_YET',
    subject: 'not every Service has been written to the kernel since the start',
    why: 'Services that are missing there do not work',
    next: 'wait if the agent has just started; else `fairlead status` says what it waits for',
  },
  ...(['IPv4', 'IPv6'] as const).map((family) => ({
    conditionOf: ({ timely }: Conditions) => timely[family],
    make: problem,
    code: 'AGENT_BEHIND',
    subject: `changes of ${family} do not reach the kernel`,
    why: 'the kernel forwards as it did before them',
    next: '`fairlead status` has the failed writes; if there are none, restart fairlead',
  })),
  {
    conditionOf: ({ errorFree }) => errorFree,
    make: problem,
    code: 'WRITE_FAILED',
    subject: 'the last write to the kernel failed',
    why: 'what it would have changed is not as desired',
    next: 'it is retried; `fairlead status` names the rows and the reason',
  },
  {
    conditionOf: ({ undisturbed }) => undisturbed,
    make: note,
    code: 'RULES_CHANGED_BY_OTHERS',
    subject: 'another process changed the rules of Fairlead',
    why: 'until they are repaired, milliseconds later, connections may fail',
    next: 'stop that program from changing them: `fairlead status` names it',
  },
  {
    conditionOf: ({ watching }) => watching,
    make: note,
    code: 'NOT_WATCHING',
    subject: 'changes of the rules by other processes are not detected',
    why: 'they are repaired only by the inspection every ten minutes',
    next: 'it is retried; the log has the reason',
  },
  {
    conditionOf: ({ addressesServed }) => addressesServed,
    make: note,
    code: 'ADDRESS_NOT_SERVED',
    subject: 'an address of a Service is not served',
    why: 'connections to it are left to whatever has the address otherwise',
    next: '`fairlead status` names the address and the reason',
  },
];

export const AGENT_CONDITIONS = check<AgentState>({
  name: 'agent-conditions',
  read: ({ agent }) => agent,
  judge: (agent) => {
    if (agent.state !== 'answers') return [];
    const { conditions, fallback } = agent;
    const found = SAID.flatMap(({ conditionOf, make, code, subject, why, next }): Finding[] => {
      const { isTrue, why: reason } = conditionOf(conditions);
      return isTrue ? [] : [make(code, { what: `${subject}: ${reason}`, why, next })];
    });
    if (fallback) {
      const { from, to, message, next } = fallback;
      const what = `${from} cannot be used: ${message}`;
      const why = `${to} forwards everything instead`;
      found.push(problem('MODE_FALLBACK', { what, why, next }));
    }
    return orOk(found, 'the kernel follows the API server');
  },
});

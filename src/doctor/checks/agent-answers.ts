import { check } from '../doctor-check.ts';
import { note, ok, problem, unasked } from '../finding.ts';
import type { AgentState, LeftInKernel } from '../subject.ts';

interface Facts {
  readonly agent: AgentState;
  readonly left: LeftInKernel;
}

const NOTHING: LeftInKernel = { objects: [], unread: [] };

export const AGENT = check<Facts>({
  name: 'agent',
  read: async ({ agent, leftInKernel }) => {
    const isGone = agent.state === 'absent' || agent.state === 'dead';
    return { agent, left: isGone ? await leftInKernel() : NOTHING };
  },
  judge: ({ agent, left: { objects, unread } }) => {
    if (agent.state === 'answers') return [ok(`the agent runs (pid ${agent.pid})`)];
    const next = 'start it; its log, or `journalctl -u fairlead`, has the reason why it ended';
    if (agent.state === 'silent') {
      const why = 'changes of Services and endpoints may not reach the kernel';
      return [
        problem('AGENT_SILENT', { what: `the agent does not answer: ${agent.why}`, why, next }),
      ];
    }
    if (agent.state === 'forbidden') {
      return [
        unasked('NOT_PERMITTED', {
          what: 'the agent runs, but only root may query it',
          why: 'what this node should serve is not known, so routes and ports of Services are not checked',
          next: 'run the command as root',
        }),
      ];
    }
    if (objects.length > 0) {
      const what = `no agent runs, and its rules are still in the kernel: ${objects.join(', ')}`;
      const why =
        'the kernel forwards as it did when the agent ended: no change of Services or endpoints arrives';
      return [problem('AGENT_DEAD', { what, why, next })];
    }
    const isUnread = unread.length > 0;
    const what = isUnread
      ? `no agent runs; whether its rules are in the kernel could not be read: ${unread.join('; ')}`
      : 'no agent runs, and the kernel has none of its rules';
    const why = isUnread
      ? 'no change of Services or endpoints arrives'
      : 'no address of a Service is served on this machine';
    if (agent.state === 'dead') return [problem('AGENT_DEAD', { what, why, next })];
    if (isUnread) {
      return [unasked('RULES_UNREAD', { what, why, next: 'run the command as root' })];
    }
    return [
      note('AGENT_ABSENT', {
        what: 'no agent runs on this machine',
        why: 'what this node should serve is not known, so routes and ports of Services are not checked',
        next: 'docs/install.md has the steps; with another --run-folder, pass the same one',
      }),
    ];
  },
});

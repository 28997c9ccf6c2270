import { openNetlink } from '../../linux/netlink/netlink-socket.ts';
import { listAllChains } from '../../linux/nftables/filter-tables.ts';
import { NETLINK_NETFILTER } from '../../linux/nftables/nftables-protocol.ts';
import { check } from '../doctor-check.ts';
import { note, ok, problem, unasked } from '../finding.ts';
import type { AgentState } from '../subject.ts';

const TABLE = 'fairlead';

interface Facts {
  readonly agent: AgentState;
  /** Whether an agent has been here: its rules are in the kernel. */
  readonly hasRules: boolean;
}

export const AGENT = check<Facts>({
  name: 'agent',
  read: async ({ agent }) => ({ agent, hasRules: agent.state === 'absent' && (await hasRules()) }),
  judge: ({ agent, hasRules: isLeft }) => {
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
    if (agent.state === 'dead' || isLeft) {
      const what = 'no agent runs, and its rules are still in the kernel';
      const why =
        'the kernel forwards as it did when the agent ended: no change of Services or endpoints arrives';
      return [problem('AGENT_DEAD', { what, why, next })];
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

async function hasRules(): Promise<boolean> {
  using netlink = openNetlink({ protocol: NETLINK_NETFILTER });
  return (await listAllChains(netlink)).some(({ table }) => table === TABLE);
}

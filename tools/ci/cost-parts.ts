import { BOTH, NIGHTLY, npm, part } from './make-part.ts';
import type { Part } from './part.ts';

export function costParts(): Part[] {
  return [
    part('bench', {
      about: 'costs compared with upstream, as ratios',
      command: npm('bench', '--ci'),
      plans: BOTH,
      seconds: 135,
    }),
    part('bench-shapes', {
      about: 'one large object: kernel memory, and one change',
      command: npm('bench', 'shapes', '--ci'),
      plans: NIGHTLY,
      seconds: 40,
    }),
    part('bench-shapes-all', {
      about: 'every large object, compared with kube-proxy',
      command: npm('bench', 'shapes'),
      plans: NIGHTLY,
      seconds: 800,
    }),
    part('bench-forwarding', {
      about: 'the userspace mode beside HAProxy: every way works, and what it costs',
      command: npm('bench', 'forwarding', '--nightly'),
      plans: NIGHTLY,
      seconds: 420,
    }),
    part('scale', {
      about: 'changes, starts and memory up to 50,000 Services, with limits',
      command: npm('measure', 'scale'),
      plans: NIGHTLY,
      seconds: 1000,
    }),
  ];
}

import { check } from '../check.ts';
import { note, ok, problem } from '../finding.ts';

interface Facts {
  readonly count: number;
  readonly max: number;
}

const FULL = 0.95;
const FILLING = 0.8;

export const CONNTRACK_ROOM = check<Facts>({
  name: 'conntrack-room',
  read: ({ sysctls }) => ({
    count: Number(sysctls.read('net/netfilter/nf_conntrack_count')),
    max: Number(sysctls.read('net/netfilter/nf_conntrack_max')),
  }),
  judge: ({ count, max }) => {
    // 0: no limit.
    const share = max === 0 ? 0 : count / max;
    const percent = `${(share * 100).toFixed(1)} %`;
    const numbers = `${count.toLocaleString('en-US')} of ${max.toLocaleString('en-US')}`;
    const what = `conntrack has ${numbers} entries (${percent})`;
    const next =
      'sysctl -w net.netfilter.nf_conntrack_max with a larger number, or conntrack.maxPerCore in the configuration; `conntrack -L` shows what fills it';
    if (share >= FULL) {
      const why = 'when it is full the kernel drops the first packet of new connections';
      return [problem('CONNTRACK_FULL', { what, why, next })];
    }
    if (share < FILLING) return [ok(what)];
    const why = 'at 100 % the kernel drops the first packet of new connections';
    return [note('CONNTRACK_FILLING', { what, why, next })];
  },
});

import { type ConntrackLosses, conntrackLosses } from '../../linux/conntrack/table-use.ts';
import { check } from '../doctor-check.ts';
import { note, ok, orOk, problem } from '../finding.ts';

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

const LOSSES = [
  {
    field: 'drop',
    code: 'CONNTRACK_DROP',
    counter: 'drop',
    why: 'so many packets were dropped because there was no room for their conntrack entries',
    next: 'raise net.netfilter.nf_conntrack_max',
  },
  {
    field: 'earlyDrop',
    code: 'CONNTRACK_EARLY_DROP',
    counter: 'early_drop',
    why: 'the table was full: so many entries of other connections were deleted to make room',
    next: 'raise net.netfilter.nf_conntrack_max',
  },
  {
    field: 'insertFailed',
    code: 'CONNTRACK_INSERT_FAILED',
    counter: 'insert_failed',
    why: 'so many first packets were dropped because two of them raced for one entry, as queries of DNS for A and AAAA from one port do',
    next: 'no action needed while it does not grow; else use a DNS cache on the node',
  },
] as const;

export const CONNTRACK_LOSSES = check<ConntrackLosses | undefined>({
  name: 'conntrack-losses',
  read: () => conntrackLosses(),
  judge: (losses) => {
    if (losses === undefined) return [ok('this kernel does not count what conntrack loses')];
    const found = LOSSES.flatMap(({ field, code, counter, why, next }) => {
      const count = losses[field];
      const what = `conntrack ${counter} = ${count.toLocaleString('en-US')} since the start`;
      return count === 0 ? [] : [note(code, { what, why, next })];
    });
    return orOk(found, 'conntrack has lost nothing');
  },
});

const TCP_LOOSE = 'net/netfilter/nf_conntrack_tcp_loose';

export const CONNTRACK_TCP = check<string>({
  name: 'conntrack-tcp',
  read: ({ sysctls }) => sysctls.read(TCP_LOOSE),
  judge: (value) => {
    const what = `${TCP_LOOSE.replaceAll('/', '.')} = ${value}`;
    if (value !== '0') return [ok(what)];
    return [
      note('TCP_LOOSE_OFF', {
        what,
        why: 'an open connection whose conntrack entry was deleted hangs until its timeout instead of being reset',
        next: `sysctl -w ${TCP_LOOSE.replaceAll('/', '.')}=1`,
      }),
    ];
  },
});

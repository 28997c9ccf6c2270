import { type ConntrackLosses, conntrackLosses } from '../../linux/conntrack/table-use.ts';
import { check } from '../check.ts';
import { note, ok, orOk } from '../finding.ts';

const SAID = [
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
    const found = SAID.flatMap(({ field, code, counter, why, next }) => {
      const count = losses[field];
      const what = `conntrack ${counter} = ${count.toLocaleString('en-US')} since the start`;
      return count === 0 ? [] : [note(code, { what, why, next })];
    });
    return orOk(found, 'conntrack has lost nothing');
  },
});

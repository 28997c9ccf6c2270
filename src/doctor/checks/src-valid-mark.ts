import { countRules } from '../../linux/route/mark-rules.ts';
import { check } from '../doctor-check.ts';
import { orOk, problem } from '../finding.ts';
import { sysctlIfThere } from '../sysctl-if-there.ts';

/**
 * Protocol numbers of the routing rules by which modes deliver marked packets to processes
 * (src/wings/userspace/plane/forwarder-routes.ts).
 */
const OWN_RULES = [119, 121];

interface Facts {
  /** Routing rules of Fairlead that a mark selects. */
  readonly ruleCount: number;
  readonly values: readonly { readonly name: string; readonly value: string }[];
}

export const SRC_VALID_MARK = check<Facts>({
  name: 'src-valid-mark',
  read: async (subject) => {
    const counts = await Promise.all(OWN_RULES.map((protocol) => countRules(protocol)));
    const { podLinks, uplinks } = await subject.places();
    const names = ['all', ...[...podLinks, ...uplinks].map(({ name }) => name)];
    return {
      ruleCount: counts.reduce((sum, count) => sum + count, 0),
      values: names.flatMap((name) => {
        const path = `net/ipv4/conf/${name}/src_valid_mark`;
        const value = sysctlIfThere(subject, path);
        return value === undefined ? [] : [{ name: path.replaceAll('/', '.'), value }];
      }),
    };
  },
  judge: ({ ruleCount, values }) => {
    const set = ruleCount === 0 ? [] : values.filter(({ value }) => value === '1');
    return orOk(
      set.map(({ name, value }) =>
        problem('SRC_VALID_MARK_ON', {
          what: `${name} = ${value}, and ${ruleCount} routing rules of Fairlead select by mark`,
          why: 'the kernel looks up the way back with the mark of the packet, finds this machine, and drops the packet as a martian',
          next: `sysctl -w ${name}=0 (wg-quick sets it), or use a mode without such rules`,
        }),
      ),
      ruleCount === 0 ? 'src_valid_mark: no rule selects by mark' : 'src_valid_mark = 0',
    );
  },
});

import type { BaseHook } from '../nftables/objects.ts';
import type { IptablesTable } from '../xtables/iptables-programs.ts';

const SOURCE_NAT = 100;
const DESTINATION_NAT = -100;

const filter = (hook: BaseHook['hook']): BaseHook => ({ type: 'filter', hook, priority: 0 });
const nat = (hook: BaseHook['hook'], priority: number): BaseHook => ({
  type: 'nat',
  hook,
  priority,
});

/** The chains that the nft backend hangs into the kernel's hooks, as it does. */
export const BUILT_IN_CHAINS: Readonly<Record<IptablesTable, Readonly<Record<string, BaseHook>>>> =
  {
    filter: { INPUT: filter('input'), FORWARD: filter('forward'), OUTPUT: filter('output') },
    nat: {
      PREROUTING: nat('prerouting', DESTINATION_NAT),
      INPUT: nat('input', SOURCE_NAT),
      OUTPUT: nat('output', DESTINATION_NAT),
      POSTROUTING: nat('postrouting', SOURCE_NAT),
    },
    // Its chains are of other kinds and not needed here.
    mangle: {},
  };

import { ensureAccount, hasAccount } from '../../../linux/iptables/nfacct.ts';
import type { Netlink } from '../../../linux/netlink/netlink-socket.ts';
import { kernelSysctls } from '../../../linux/sysctl.ts';
import { SysctlError } from '../../../linux/sysctl-error.ts';
import { type Abilities, INVALID_ACCOUNT, LOCALHOST_ACCOUNT } from './setting.ts';

type OpenNetlink = (kind: 'requests') => Netlink;

/** Finds out what the kernel can do, and makes the counters that rules name. */
export async function findAbilities(openNetlink: OpenNetlink): Promise<Abilities> {
  return await abilitiesBy(openNetlink, ensureAccount);
}

/** The same without a write: counters that are not there cannot be named. */
export async function readAbilities(openNetlink: OpenNetlink): Promise<Abilities> {
  return await abilitiesBy(openNetlink, hasAccount);
}

async function abilitiesBy(
  openNetlink: OpenNetlink,
  ask: (netlink: Netlink, name: string) => Promise<boolean>,
): Promise<Abilities> {
  using netlink = openNetlink('requests');
  const hasInvalid = await ask(netlink, INVALID_ACCOUNT);
  const hasLocalhost = await ask(netlink, LOCALHOST_ACCOUNT);
  return { hasAccounts: hasInvalid && hasLocalhost, dropsInvalid: !isLiberal() };
}

/** Whether connection tracking takes packets outside their window for valid. */
function isLiberal(): boolean {
  try {
    return kernelSysctls().read('net/netfilter/nf_conntrack_tcp_be_liberal') !== '0';
  } catch (error) {
    // Without conntrack no packet is invalid; the rule that drops invalid ones loads it.
    if (error instanceof SysctlError) return false;
    throw error;
  }
}

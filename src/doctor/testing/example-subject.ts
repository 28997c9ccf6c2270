import type { Condition, Conditions } from '../../agent/conditions.ts';
import { SysctlError } from '../../linux/sysctl-error.ts';
import type { Places } from '../address-places.ts';
import type { ModeAbout, Subject } from '../subject.ts';

const NOWHERE: Places = { links: [], endpoints: [], podLinks: [], uplinks: [] };

export const MODE: ModeAbout = {
  name: 'plain',
  capabilities: [],
  programs: [],
  kernel: [],
  sysctls: [],
  usesKubeProxyChains: false,
};

/** A machine without anything, for checks that ask the subject alone. */
export function subject(parts: Partial<Subject> & { sysctls?: Subject['sysctls'] } = {}): Subject {
  return {
    sysctls: sysctlsWith({}),
    agent: { state: 'absent' },
    node: undefined,
    leftInKernel: async () => ({ objects: [], unread: [] }),
    modes: [MODE],
    usedMode: MODE.name,
    places: async () => NOWHERE,
    ...parts,
  };
}

/** Undefined: a setting that the kernel does not have. */
export function sysctlsWith(
  values: Readonly<Record<string, string | undefined>>,
): Subject['sysctls'] {
  return {
    read: (name) => {
      if (!Object.hasOwn(values, name)) throw new RangeError(`the test has no value for ${name}`);
      const value = values[name];
      if (value === undefined) throw new SysctlError('SYSCTL_MISSING', name, { next: '' });
      return value;
    },
  };
}

const TRUE: Condition = { isTrue: true, sinceMs: 0, why: '' };

/** All true, but those given. */
export function conditions(changed: Partial<Conditions> = {}): Conditions {
  return {
    connected: {} as Conditions['connected'],
    apiFresh: TRUE,
    apiComplete: TRUE,
    listed: TRUE,
    firstSync: TRUE,
    synced: TRUE,
    timely: { IPv4: TRUE, IPv6: TRUE },
    errorFree: TRUE,
    undisturbed: TRUE,
    watching: TRUE,
    unpaced: TRUE,
    affinityRoom: TRUE,
    addressesServed: TRUE,
    nodePortsFree: TRUE,
    nodeEligible: TRUE,
    ...changed,
  };
}

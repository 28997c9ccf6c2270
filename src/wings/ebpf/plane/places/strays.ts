import { statSync } from 'node:fs';
import type { Difference } from '../../../../dataplanes/contract.ts';
import type { BpfLink } from '../../../../linux/ebpf/link.ts';
import { attachTypeOf, HOOK_NAMES, type HookName, hookText } from './hook-names.ts';
import { looksLikeOurs } from './looks-like-ours.ts';
import { eachStrayLink } from './stray-links.ts';

export interface StraySearch {
  readonly cgroupPath: string;
  /** Ids of the links that are as they should be. */
  readonly kept: ReadonlySet<number>;
}

/**
 * Our programs at the cgroup that we hold no link of: they were attached by a process with other
 * pins, or their pins are not visible here. They would always run before ours, on maps that no
 * process writes.
 */
export function strays(search: StraySearch): Difference[] {
  return eachStray(search, () => undefined);
}

export function detachStrays(search: StraySearch): Difference[] {
  return eachStray(search, (link) => link.detach());
}

function eachStray(
  { cgroupPath, kept }: StraySearch,
  visit: (link: BpfLink) => void,
): Difference[] {
  const cgroupId = statSync(cgroupPath, { bigint: true, throwIfNoEntry: false })?.ino;
  if (cgroupId === undefined) return [];
  const nameOf = (link: BpfLink): string | undefined => {
    const hook = hookOf(link, cgroupId);
    return hook && `${hookText(hook)}, a second program attached beside that of Fairlead`;
  };
  return eachStrayLink({ kept, nameOf, visit }).map((object) => ({ kind: 'foreign', object }));
}

/** The hook that the link is, by its place, the name of its program and the names of its maps. */
function hookOf(link: BpfLink, cgroupId: bigint): HookName | undefined {
  const { target, programId } = link.info();
  if (target.kind !== 'cgroup' || target.cgroupId !== cgroupId) return undefined;
  const name = HOOK_NAMES.find((each) => attachTypeOf(each) === target.attachType);
  return name !== undefined && looksLikeOurs(programId, name) ? name : undefined;
}

import { statSync } from 'node:fs';
import { listIds, openLinkById } from '../../linux/bpf/enumerate.ts';
import { BpfError } from '../../linux/bpf/errors.ts';
import type { BpfLink } from '../../linux/bpf/link.ts';
import type { Difference } from '../contract.ts';
import { ATTACH_TYPE, HOOK_NAMES, type HookName, hookText } from './hook-names.ts';
import { looksLikeOurs } from './looks-like-ours.ts';

export interface StraySearch {
  readonly cgroupPath: string;
  /** Ids of the links that are as they should be. */
  readonly kept: ReadonlySet<number>;
}

/**
 * Programs of ours at the control group that we hold no link of: they were attached by a process
 * with other pins, or their pins are out of our sight. They would run before ours for ever, on maps
 * that nobody writes.
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
  return linkIds().flatMap((id): Difference[] => {
    const link = kept.has(id) ? undefined : openLinkById(id);
    try {
      const name = link && hookOf(link, cgroupId);
      if (!link || !name) return [];
      visit(link);
      return [{ kind: 'foreign', object: `${hookText(name)}, attached beside ours` }];
    } finally {
      link?.close();
    }
  });
}

/** A kernel that cannot list links, or not for us, has none that we could have made. */
function linkIds(): number[] {
  try {
    return listIds('link');
  } catch (error) {
    if (error instanceof BpfError) return [];
    throw error;
  }
}

/** The hook that the link is, by its place, the name of its program and the names of its maps. */
function hookOf(link: BpfLink, cgroupId: bigint): HookName | undefined {
  const { target, programId } = link.info();
  if (target.kind !== 'cgroup' || target.cgroupId !== cgroupId) return undefined;
  const name = HOOK_NAMES.find((each) => ATTACH_TYPE[each] === target.attachType);
  return name !== undefined && looksLikeOurs(programId, name) ? name : undefined;
}

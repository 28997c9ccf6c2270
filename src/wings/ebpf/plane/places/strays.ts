import { statSync } from 'node:fs';
import type { Difference } from '../../../../dataplanes/contract.ts';
import { BpfError } from '../../../../linux/ebpf/bpf-error.ts';
import { type BpfLink, tcxAttachType } from '../../../../linux/ebpf/bpf-link.ts';
import { listIds, openLinkById, programsOnDevice } from '../../../../linux/ebpf/enumerate.ts';
import { attachTypeOf, HOOK_NAMES, type HookName, hookText } from './hook-names.ts';
import { looksLikeOurs } from './looks-like-ours.ts';
import { INGRESS } from './programs.ts';

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

/**
 * Links of the machine that `nameOf` recognises as ours, except for the desired ones; returns their
 * names. Not for every poll: it reads all of them.
 */
function eachStrayLink(search: {
  /** Ids. */
  readonly kept: ReadonlySet<number>;
  readonly nameOf: (link: BpfLink, id: number) => string | undefined;
  readonly visit: (link: BpfLink) => void;
}): string[] {
  return linkIds().flatMap((id) => {
    const link = search.kept.has(id) ? undefined : openLinkById(id);
    try {
      const name = link && search.nameOf(link, id);
      if (!link || name === undefined) return [];
      search.visit(link);
      return [name];
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

export function ingressText(ifindex: number): string {
  return `ebpf ${INGRESS} of interface ${ifindex}`;
}

/**
 * Our programs at any interface of this network namespace that we hold no link of, in any mode: on
 * maps that no process writes, they would run first and answer from stale entries.
 */
export function ingressStrays(
  kept: ReadonlySet<number>,
  visit: (link: BpfLink) => void,
): Difference[] {
  const nameOf = (link: BpfLink, id: number): string | undefined => {
    const { target, programId } = link.info();
    if (target.kind !== 'tcx' || target.attachType !== tcxAttachType('ingress')) return undefined;
    if (!isAttachedHere(target.ifindex, id) || !looksLikeOurs(programId, INGRESS)) return undefined;
    return `${ingressText(target.ifindex)}, a second program attached beside that of Fairlead`;
  };
  return eachStrayLink({ kept, nameOf, visit }).map((object) => ({ kind: 'foreign', object }));
}

/** A link has the index of its interface, but not the namespace of that index. */
function isAttachedHere(ifindex: number, linkId: number): boolean {
  if (ifindex === 0) return false;
  const found = unlessGone(() => programsOnDevice(ifindex, 'ingress'));
  return found?.links.includes(linkId) ?? false;
}

/** Undefined: the interface has gone meanwhile. */
export function unlessGone<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof BpfError && error.code === 'BPF_MISSING') return undefined;
    throw error;
  }
}

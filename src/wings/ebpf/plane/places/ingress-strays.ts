import type { Difference } from '../../../../dataplanes/contract.ts';
import { programsOnDevice } from '../../../../linux/ebpf/enumerate.ts';
import { BpfError } from '../../../../linux/ebpf/errors.ts';
import { type BpfLink, tcxAttachType } from '../../../../linux/ebpf/link.ts';
import { looksLikeOurs } from './looks-like-ours.ts';
import { INGRESS } from './programs.ts';
import { eachStrayLink } from './stray-links.ts';

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

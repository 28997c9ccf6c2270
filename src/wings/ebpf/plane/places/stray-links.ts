import { listIds, openLinkById } from '../../../../linux/ebpf/enumerate.ts';
import { BpfError } from '../../../../linux/ebpf/errors.ts';
import type { BpfLink } from '../../../../linux/ebpf/link.ts';

/**
 * Links of the machine that `nameOf` recognises as ours, except for the desired ones; returns their
 * names. Not for every poll: it reads all of them.
 */
export function eachStrayLink(of: {
  /** Ids. */
  readonly kept: ReadonlySet<number>;
  readonly nameOf: (link: BpfLink, id: number) => string | undefined;
  readonly visit: (link: BpfLink) => void;
}): string[] {
  return linkIds().flatMap((id) => {
    const link = of.kept.has(id) ? undefined : openLinkById(id);
    try {
      const name = link && of.nameOf(link, id);
      if (!link || name === undefined) return [];
      of.visit(link);
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

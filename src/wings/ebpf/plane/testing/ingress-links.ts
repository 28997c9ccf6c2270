import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type BpfLink, openPinnedLink } from '../../../../linux/ebpf/bpf-link.ts';
import { openLinkById, programsOnDevice } from '../../../../linux/ebpf/enumerate.ts';
import type { LinkInfo } from '../../../../linux/ebpf/info.ts';
import { listLinks } from '../../../../linux/route/watch-links.ts';
import { INGRESS } from '../places/programs.ts';
import { pinFolderOf } from './packet-plane.ts';

export async function indexOf(device: string): Promise<number> {
  const link = (await listLinks()).find(({ name }) => name === device);
  if (link === undefined) throw new Error(`there is no interface ${device}`);
  return link.index;
}

export function pinOf(pins: string, ifindex: number): string {
  return join(pinFolderOf(pins), 'links', `${INGRESS}_${ifindex}`);
}

/** The link that is pinned for this interface; undefined: none. */
export function linkAt(pins: string, ifindex: number): LinkInfo | undefined {
  const path = pinOf(pins, ifindex);
  return existsSync(path) ? using(openPinnedLink(path), (link) => link.info()) : undefined;
}

export function using<T>(link: BpfLink, use: (link: BpfLink) => T): T {
  try {
    return use(link);
  } finally {
    link.close();
  }
}

/** Number of programs attached at its ingress. */
export function programCount(ifindex: number): number {
  return programsOnDevice(ifindex, 'ingress').programs.length;
}

/** Whether the link is attached to something, by whomever it is held. */
export function isAttached(linkId: number): boolean {
  const link = openLinkById(linkId);
  if (link === undefined) return false;
  const { target } = using(link, (open) => open.info());
  return target.kind === 'tcx' && target.ifindex !== 0;
}

const LOOK_EVERY_MS = 2;

/** Waits until it is so; gives how long that took. */
export async function untilSo(
  what: string,
  isSo: () => boolean,
  withinMs = 10_000,
): Promise<number> {
  const beganMs = performance.now();
  while (!isSo()) {
    if (performance.now() - beganMs > withinMs) throw new Error(`it did not come to this: ${what}`);
    await delay(LOOK_EVERY_MS);
  }
  return performance.now() - beganMs;
}

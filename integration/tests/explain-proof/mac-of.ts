import { run } from '../../../src/linux/netlink/testing/own-namespace.ts';

/** The link-layer address of an interface of the node. */
export function macOf(device: string): string {
  const [link] = JSON.parse(run(['ip', '-j', 'link', 'show', device])) as { address: string }[];
  return link?.address ?? '';
}

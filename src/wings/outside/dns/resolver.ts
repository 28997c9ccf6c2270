import { lstat, readlink } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isLoopbackIp } from '../../../addresses/loopback.ts';
import { systemCode } from '../../../cluster/cluster-error.ts';
import { below } from '../paths.ts';
import { textOf } from '../write-files.ts';

/** Who answers when a program of the machine looks up a name. */
export type ResolverKind =
  /** Every program asks systemd-resolved. */
  | 'resolved'
  /** systemd-resolved runs, and /etc/resolv.conf names the servers behind it. */
  | 'resolved-bypassed'
  | 'dnsmasq'
  | 'unbound'
  /** A server on this machine that is none of these. */
  | 'local-server'
  | 'NetworkManager'
  | 'resolvconf'
  /** A file that no program maintains, or none. */
  | 'plain';

export interface Resolver {
  readonly kind: ResolverKind;
  /** Where /etc/resolv.conf leads; undefined: it is a file itself, or does not exist. */
  readonly target: string | undefined;
  /** Of its lines `nameserver`. */
  readonly servers: readonly string[];
  /** Whether programs that use the C library ask systemd-resolved without it. */
  readonly usesNssResolve: boolean;
}

const RESOLV_CONF = '/etc/resolv.conf';
const STUB_ADDRESSES = ['127.0.0.53', '127.0.0.54'];
const OWNERS: readonly (readonly [string, ResolverKind])[] = [
  ['/run/systemd/resolve/stub-resolv.conf', 'resolved'],
  ['/usr/lib/systemd/resolv.conf', 'resolved'],
  ['/lib/systemd/resolv.conf', 'resolved'],
  ['/run/systemd/resolve/resolv.conf', 'resolved-bypassed'],
  ['/run/NetworkManager/', 'NetworkManager'],
  ['/var/run/NetworkManager/', 'NetworkManager'],
  ['/run/resolvconf/', 'resolvconf'],
  ['/etc/resolvconf/run/', 'resolvconf'],
];

/** How the machine below `root` resolves names, by its files. */
export async function readResolver(root: string): Promise<Resolver> {
  const target = await linkTarget(below(root, RESOLV_CONF));
  const text = (await textOf(below(root, target ?? RESOLV_CONF))) ?? '';
  const servers = [...text.matchAll(/^\s*nameserver\s+(\S+)/gm)].map((match) => match[1] ?? '');
  const nsswitch = (await textOf(below(root, '/etc/nsswitch.conf'))) ?? '';
  const usesNssResolve = /^\s*hosts:[^#\n]*\bresolve\b/m.test(nsswitch);
  const kind = kindOf({ target, text, servers });
  const local = kind === 'local-server' ? await localServer(root) : kind;
  return { kind: local, target, servers, usesNssResolve };
}

function kindOf(resolver: {
  readonly target: string | undefined;
  readonly text: string;
  readonly servers: readonly string[];
}): ResolverKind {
  const { target, text, servers } = resolver;
  const owner = OWNERS.find(([path]) =>
    path.endsWith('/') ? target?.startsWith(path) : target === path,
  );
  if (owner !== undefined) return owner[1];
  const [first] = servers;
  if (first !== undefined && STUB_ADDRESSES.includes(first)) return 'resolved';
  if (first !== undefined && isLoopbackIp(first)) return 'local-server';
  if (/^#.*NetworkManager/m.test(text)) return 'NetworkManager';
  return /^#.*resolvconf/m.test(text) ? 'resolvconf' : 'plain';
}

async function localServer(root: string): Promise<ResolverKind> {
  for (const [folder, kind] of [
    ['/run/unbound.pid', 'unbound'],
    ['/run/dnsmasq', 'dnsmasq'],
    ['/etc/unbound', 'unbound'],
    ['/etc/dnsmasq.d', 'dnsmasq'],
    ['/etc/dnsmasq.conf', 'dnsmasq'],
  ] as const) {
    if (await exists(below(root, folder))) return kind;
  }
  return 'local-server';
}

/** As a path of the machine. */
async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return resolve(dirname(RESOLV_CONF), await readlink(path));
  } catch (error) {
    if (['EINVAL', 'ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return undefined;
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return false;
    throw error;
  }
}

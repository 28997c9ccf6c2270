import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalIp } from '../../../addresses/ip.ts';
import { systemCode } from '../../../cluster/cluster-error.ts';
import { below } from '../paths.ts';
import { textOf } from '../write-files.ts';
import type { Resolver } from './resolver.ts';

/** A setting by which the cluster's DNS is asked for every name of the machine. */
export interface Leak {
  readonly file: string;
  readonly servers: readonly string[];
}

const MAIN_FILE = '/etc/systemd/resolved.conf';
const DROP_IN_FOLDERS = ['/etc', '/run', '/usr/local/lib', '/usr/lib'].map(
  (folder) => `${folder}/systemd/resolved.conf.d`,
);

export async function findLeaks(
  root: string,
  dns: { readonly servers: readonly string[]; readonly resolver: Resolver },
): Promise<readonly Leak[]> {
  const leaks = await resolvedLeaks(root, dns.servers);
  const inFile = among(dns.resolver.servers, dns.servers);
  // The file that systemd-resolved writes repeats what the other files say.
  if (inFile.length === 0 || dns.resolver.target?.startsWith('/run/systemd/')) return leaks;
  return [...leaks, { file: '/etc/resolv.conf', servers: inFile }];
}

/**
 * `DNS=` of systemd-resolved adds a server for all names: `Domains=~cluster.local` beside it does not
 * confine it. It asks that server and those of the links at once, and takes the first answer.
 */
export async function resolvedLeaks(
  root: string,
  servers: readonly string[],
): Promise<readonly Leak[]> {
  const leaks: Leak[] = [];
  for (const file of await configurationFiles(root)) {
    const found = among(globalServers((await textOf(below(root, file))) ?? ''), servers);
    if (found.length > 0) leaks.push({ file, servers: found });
  }
  return leaks;
}

/** Those that are among the wanted ones, whatever their spelling. */
export function among(found: readonly string[], wanted: readonly string[]): readonly string[] {
  const canonical = (server: string): string => canonicalIp(server) ?? server;
  const ours = new Set(wanted.map(canonical));
  return found.filter((server) => ours.has(canonical(server)));
}

/** Addresses of the lines `DNS=`, without port, interface and server name. */
export function globalServers(text: string): readonly string[] {
  const servers: string[] = [];
  for (const match of text.matchAll(/^\s*DNS\s*=[ \t]*(.*)$/gm)) {
    const words = (match[1] ?? '').split(/\s+/).filter((word) => word !== '');
    // An empty line forgets the earlier ones.
    if (words.length === 0) servers.length = 0;
    servers.push(...words.map(addressOf));
  }
  return servers;
}

function addressOf(word: string): string {
  const [plain = ''] = word.split(/[#%]/);
  const bracketed = /^\[(.+)\](?::\d+)?$/.exec(plain)?.[1];
  if (bracketed !== undefined) return bracketed;
  return /^[^:]+:\d+$/.test(plain) ? (plain.split(':')[0] ?? plain) : plain;
}

async function configurationFiles(root: string): Promise<readonly string[]> {
  const files = [MAIN_FILE];
  for (const folder of DROP_IN_FOLDERS) {
    const names = await namesIn(below(root, folder));
    files.push(...names.filter((name) => name.endsWith('.conf')).map((name) => join(folder, name)));
  }
  return files;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return [];
    throw error;
  }
}

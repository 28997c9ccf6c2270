import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../../../src/linux/xtables/iptables-programs.ts';

export type WriterName = 'netlink' | 'program';

/** Reports a version too old for netlink writes to its tables. */
const OLD = 'if [ "$2" = --version ]; then echo "iptables v1.8.7 (nf_tables)"; exit 0; fi';

/** A folder with the nft backend only, which makes the data plane write in one way or the other. */
export function writerPath(writer: WriterName): Disposable & { readonly folder: string } {
  const real = findProgram('nft');
  if (real === undefined) throw new RangeError('xtables-nft-multi is not on the PATH');
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-writers-'));
  const standIn = join(folder, 'xtables-nft-multi');
  const lines = ['#!/bin/sh', ...(writer === 'program' ? [OLD] : []), `exec ${real} "$@"`, ''];
  writeFileSync(standIn, lines.join('\n'));
  chmodSync(standIn, 0o755);
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

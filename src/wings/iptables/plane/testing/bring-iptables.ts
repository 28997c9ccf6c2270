import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Inspection, InspectionDepth } from '../../../../dataplanes/contract.ts';
import { change } from '../../../../dataplanes/shared/testing/plane-change.ts';
import {
  FAMILIES,
  type Family,
  type Forwarding,
  servicePortKey,
} from '../../../../forwarding/model.ts';
import { type Netlink, openNetlink } from '../../../../linux/netlink/netlink-socket.ts';
import { run } from '../../../../linux/netlink/testing/own-namespace.ts';
import {
  NETLINK_NETFILTER,
  NFNLGRP_NFTABLES,
} from '../../../../linux/nftables/nftables-protocol.ts';
import { type Backend, toolName } from '../../../../linux/xtables/iptables-programs.ts';
import { IptablesPlane } from '../iptables-plane.ts';
import { renderedTables, restoreText } from '../render-iptables.ts';
import { FACTS, SETTING } from './iptables-rows.ts';
import { sortedTables } from './sorted-tables.ts';

/** The programs of one backend, and a lock that no other test waits for. */
export class Tools {
  readonly backend: Backend;
  #folder: string | undefined;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  /** The programs that are started from now on use the lock. */
  prepare(): this {
    const folder = mkdtempSync(join(tmpdir(), 'fairlead-iptables-'));
    this.#folder = folder;
    const name = `xtables-${this.backend}-multi`;
    symlinkSync(`/usr/sbin/${name}`, join(folder, name));
    process.env['XTABLES_LOCKFILE'] = this.lockFile;
    return this;
  }

  remove(): void {
    rmSync(this.path, { recursive: true });
  }

  get path(): string {
    assert.ok(this.#folder !== undefined, 'prepared');
    return this.#folder;
  }

  get lockFile(): string {
    return join(this.path, 'xtables.lock');
  }

  newPlane(): IptablesPlane {
    return new IptablesPlane({
      path: this.path,
      pollMs: 100,
      openNetlink: openNetfilter,
    });
  }

  iptables(...args: readonly string[]): string {
    return run([`/usr/sbin/xtables-${this.backend}-multi`, 'iptables', ...args]);
  }

  /** All that is ours and the ways to it, as `iptables-save` prints it. */
  save(family: Family): string {
    const program = `/usr/sbin/xtables-${this.backend}-multi`;
    const tables = ['mangle', 'filter', 'nat'].map((table) =>
      run([program, toolName(family, 'save'), '-t', table]),
    );
    return tables
      .join('')
      .split('\n')
      .filter((line) => !/^:(PREROUTING|INPUT|FORWARD|OUTPUT|POSTROUTING) /.test(line))
      .map((line) => line.replaceAll(/ {2,}/g, ' ').replace(/ \[\d+:\d+\]$/, ' [0:0]'))
      .join('\n');
  }

  /** The kernel has what the rows need, and nothing else. */
  assertIs(rows: readonly Forwarding[]): void {
    for (const family of FAMILIES) this.assertIsFamily(rows, family);
  }

  assertIsFamily(rows: readonly Forwarding[], family: Family): void {
    const wanted = restoreText(renderedTables(rows, SETTING, family));
    assert.deepEqual(sortedTables(this.save(family)), sortedTables(wanted));
  }
}

export function openNetfilter(kind: 'requests' | 'events'): Netlink {
  const groups = kind === 'events' ? { groups: [NFNLGRP_NFTABLES] } : {};
  return openNetlink({ protocol: NETLINK_NETFILTER, ...groups });
}

/** From any state to the rows. */
export async function bring(
  plane: IptablesPlane,
  rows: readonly Forwarding[],
  depth: InspectionDepth = 'everything',
): Promise<Inspection> {
  const inspection = await plane.inspect({ facts: FACTS, rows }, depth);
  const wrong = rows.filter(({ id }) => !inspection.right.has(servicePortKey(id)));
  await plane.apply(wrong.map((row) => change('unknown', row)));
  return inspection;
}

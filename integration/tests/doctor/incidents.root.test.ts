import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { readSavedHistory } from '../../../src/agent/history/saved-history.ts';
import { readStatus } from '../../../src/agent/servers/status-client.ts';
import type { StatusPage } from '../../../src/agent/status-page.ts';
import {
  complaints,
  layNetwork,
  setSysctl,
  startAgent,
} from '../../../src/commands/doctor/testing/examined-node.ts';
import { readWholeHistory } from '../../../src/commands/history/read-history.ts';
import { statusView } from '../../../src/commands/status/status-view.ts';
import { detachedNames } from '../../../src/commands/status/trouble.ts';
import { HISTORY_FILE, STATUS_SOCKET } from '../../../src/config/run-folder.ts';
import { compiledProgram } from '../../../src/linux/ebpf/testing/compiled-program.ts';
import { ownPlace } from '../../../src/linux/ebpf/testing/own-place.ts';
import { enterOwnNetwork, run } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { statusWordsOf } from '../../../src/modes/mode-registry.ts';
import { cannotRun, configFile } from './agent-in-mode.ts';

const DEADLINE_MS = 20_000;

before(() => {
  enterOwnNetwork();
  layNetwork();
});

async function pageOf(runFolder: string): Promise<StatusPage> {
  return (await readStatus({ socketPath: join(runFolder, STATUS_SOCKET) })) as StatusPage;
}

/** What `fairlead status` prints, as one line. */
async function status(runFolder: string): Promise<string> {
  const page = await pageOf(runFolder);
  const words = await statusWordsOf(page.mode);
  return stripVTControlCharacters(statusView(page, { words })).replaceAll(/\s+/g, ' ');
}

async function untilStatus(runFolder: string, wanted: RegExp): Promise<string> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  for (;;) {
    const text = await status(runFolder);
    if (wanted.test(text)) return text;
    assert.ok(!deadline.aborted, text);
    await delay(100);
  }
}

describe('status and doctor under incidents', () => {
  it('give the reason of a fallback', { skip: cannotRun('tc-ebpf') }, async (t) => {
    for (const name of ['sock', 'tc'] as const) compiledProgram(name);
    const { pins, leave } = ownPlace('doctor-fallback');
    t.after(leave);
    const own = `mode: tc-ebpf, cgroup: /sys/fs/cgroup/no-such, pinFolder: ${pins}/fairlead`;
    const config = await configFile(t, `fairlead: { ${own} }`);
    await using agent = await startAgent(['--config', config]);
    const text = await status(agent.runFolder);
    assert.match(text, /^! packet hooks cannot be used, nftables forwards everything: .*no-such/);
    assert.doesNotMatch(text, /repaired automatically/);
    // For `explain`: the rules of nftables are met by all packets.
    assert.deepEqual(detachedNames(await pageOf(agent.runFolder)), []);
    const found = await complaints(agent.runFolder);
    assert.deepEqual(found, ['problem MODE_FALLBACK', 'problem KERNEL_DIFFERS']);
  });

  it('tell what the machine lacks and what waits for a restart, and no repaired trouble', async (t) => {
    const config = await configFile(t, 'mode: nftables');
    await using agent = await startAgent(['--config', config]);
    const { runFolder } = agent;
    assert.match(await status(runFolder), /^node1: nftables, ready/);

    setSysctl('net/ipv4/ip_forward', '0');
    assert.match(await status(runFolder), /^! net\.ipv4\.ip_forward = 0: the kernel drops/);
    setSysctl('net/ipv4/ip_forward', '1');

    run(['nft', 'delete table ip fairlead']);
    await untilStatus(runFolder, /^node1: nftables, ready/);

    const text = await readFile(config, 'utf8');
    await writeFile(config, text.replace('mode: nftables', 'mode: iptables'));
    await untilStatus(
      runFolder,
      /^! the configuration file changed in mode.*: in force after a restart/,
    );
    await writeFile(config, text);
    await untilStatus(runFolder, /^node1: nftables, ready/);
  });

  it('keep the history of an agent that was killed', async () => {
    await using killed = await startAgent();
    const { runFolder } = killed;
    run(['nft', 'delete table ip fairlead']);
    await untilSaved(runFolder, 'repaired');
    killed.program.send('SIGKILL');
    await killed.program.ended;
    await using next = await startAgent(['--proxy-mode', 'nftables'], 'nftables', runFolder);
    const page = await readWholeHistory({}, { socketPath: join(next.runFolder, STATUS_SOCKET) });
    const kinds = page.entries.map(({ what }) => what.kind);
    const second = kinds.lastIndexOf('started');
    assert.deepEqual([kinds[0], kinds[second]], ['started', 'started']);
    assert.ok(kinds.indexOf('drift') < second && kinds.indexOf('repaired') < second, `${kinds}`);
    assert.equal(page.startedSeq, second + 1);
  });
});

async function untilSaved(runFolder: string, kind: string): Promise<void> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const path = join(runFolder, HISTORY_FILE);
  while (!readSavedHistory(path).some((entry) => entry.kind === kind)) {
    assert.ok(!deadline.aborted, 'nothing was saved');
    await delay(100);
  }
}

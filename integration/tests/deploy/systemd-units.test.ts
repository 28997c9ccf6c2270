import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { tryRun } from '../../../lab/host/run.ts';
import { MODE_NAMES } from '../../../src/config/modes.ts';
import { modeNamed } from '../../../src/modes/mode-registry.ts';
import { dnsUnitText } from '../../../src/wings/outside/dns/apply.ts';
import { unitText } from '../../../src/wings/outside/unit-text.ts';

const { exitCode } = await tryRun(['sh', '-c', 'command -v systemd-analyze']);
const skip = exitCode === 0 ? false : 'systemd-analyze is not installed: apt-get install systemd';
/** systemd-analyze wants a program that is there. */
const PROGRAM = [process.execPath, '/usr/local/bin/fairlead'];

/** All that systemd-analyze has to say: of a key that it does not know it only warns. */
async function complaints(name: string, text: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-units-'));
  try {
    const file = join(folder, name);
    writeFileSync(file, text);
    const ran = await tryRun(['systemd-analyze', 'verify', '--man=no', file]);
    return ran.exitCode === 0 ? ran.stdout + ran.stderr : `exit ${ran.exitCode}: ${ran.stderr}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('systemd-analyze verify', { skip }, () => {
  for (const name of MODE_NAMES) {
    it(`accepts the unit of mode ${name}`, async () => {
      const needs = (await modeNamed(name)).service;
      assert.equal(await complaints('fairlead.service', unitText({ program: PROGRAM, needs })), '');
    });
  }

  it('accepts the unit for names', async () => {
    const plan = { domain: 'cluster.local', servers: ['10.96.0.10'] };
    assert.equal(await complaints('fairlead-dns.service', dnsUnitText(plan, PROGRAM)), '');
  });

  it('would find a misspelt key, and a program that is not there', async () => {
    const needs = (await modeNamed('nftables')).service;
    const misspelt = unitText({ program: PROGRAM, needs }).replace(
      'WatchdogSec',
      'WatchDogSeconds',
    );
    assert.match(await complaints('fairlead.service', misspelt), /WatchDogSeconds/);
    const missing = unitText({ program: ['/nowhere/fairlead'], needs });
    assert.match(await complaints('fairlead.service', missing), /\/nowhere\/fairlead/);
  });
});

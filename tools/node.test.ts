import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type Outcome, runCommand } from './commands/run.ts';

const SCRIPT = join(import.meta.dirname, 'node');
const TIMEOUT_MS = 30_000;

/** A checkout as far as the script sees it. */
class Checkout implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'fairlead-tools-node-'));

  constructor() {
    mkdirSync(join(this.folder, 'tools'));
    copyFileSync(SCRIPT, join(this.folder, 'tools/node'));
    chmodSync(join(this.folder, 'tools/node'), 0o755);
  }

  /** As npm 9 leaves it: the package, and no link in `.bin`. */
  install(): void {
    const folder = join(this.folder, `node_modules/node-linux-${process.arch}/bin`);
    mkdirSync(folder, { recursive: true });
    symlinkSync(process.execPath, join(folder, 'node'));
  }

  async run(...args: string[]): Promise<Outcome> {
    return await runCommand({
      program: 'tools/node',
      args,
      folder: this.folder,
      env: { PATH: '/usr/bin:/bin' },
      timeoutMs: TIMEOUT_MS,
      signal: new AbortController().signal,
    });
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true });
  }
}

describe('tools/node', () => {
  it('runs the Node of the packages, and what is started by name finds the same', async () => {
    using checkout = new Checkout();
    checkout.install();
    const asked = "require('node:child_process').execSync('node -p process.version')";
    const { ok, output } = await checkout.run('-p', `process.version + ' ' + ${asked}`);
    assert.ok(ok, output);
    assert.equal(output.trim(), `${process.version} ${process.version}`);
  });

  it('says what to do before the packages are installed', async () => {
    using checkout = new Checkout();
    const { ok, output } = await checkout.run('-p', '1');
    assert.equal(ok, false);
    assert.match(output, /run 'npm ci' first/);
  });
});

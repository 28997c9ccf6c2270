import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startDaemon } from '../../../lab/host/processes.ts';
import { until } from '../../../lab/host/until.ts';
import { TopSite } from './site.ts';

const MAIN = join(import.meta.dirname, '../../../src/main.ts');
const DEADLINE_MS = 60_000;
const ENTER = '\x1b[?1049h\x1b[?25l';
const BOLD = '\x1b[1m';
const LEAVE = '\x1b[?25h\x1b[?1049l';

describe('fairlead top on a terminal', () => {
  let site: TopSite;

  before(async () => {
    site = await TopSite.enter();
    await site.startAgent('nftables');
  });

  after(() => site.leave());

  /** `script` gives it a terminal of 60 columns and 12 rows, and records what it writes. */
  async function recorded(signal: NodeJS.Signals, environment = ''): Promise<string> {
    const pidFile = join(site.folder, `pid-${signal}${environment.length}`);
    const top = `${process.execPath} ${MAIN} top --interval 500ms --run-folder ${site.runFolder}`;
    const shell = `stty cols 60 rows 12; echo $$ > ${pidFile}; exec env ${environment} ${top}`;
    const daemon = startDaemon({
      name: 'a terminal',
      namespacePath: `/proc/${process.pid}/ns/net`,
      argv: ['script', '-qefc', shell, '/dev/null'],
      logFile: join(site.folder, `terminal-${signal}${environment.length}.log`),
    });
    const text = (): string => readFileSync(daemon.logFile, 'utf8');
    await until(() => text().split('SERVICE').length > 3, {
      what: () => `three pages: ${JSON.stringify(text())}`,
      deadlineMs: DEADLINE_MS,
    });
    process.kill(Number(readFileSync(pidFile, 'utf8')), signal);
    await until(() => daemon.ended() !== undefined, { what: 'its end', deadlineMs: DEADLINE_MS });
    assert.match(String(daemon.ended()), /\b0\b/);
    return text();
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`redraws in place, and restores the terminal after ${signal}`, async () => {
      const text = await recorded(signal);
      assert.equal(text.split(ENTER).length, 2);
      assert.equal(text.split(LEAVE).length, 2);
      assert.ok(text.endsWith(LEAVE), JSON.stringify(text.slice(-60)));
      const pages = text.split('\x1b[H').slice(1);
      assert.ok(pages.length > 3);
      for (const page of pages) {
        const lines = page.split('\x1b[J')[0]?.split('\r\n') ?? [];
        assert.ok(lines.length <= 12, `${lines.length} lines`);
      }
      assert.ok(text.includes(BOLD));
    });
  }

  it('writes no colours with NO_COLOR', async () => {
    assert.ok(!(await recorded('SIGINT', 'NO_COLOR=1')).includes(BOLD));
  });
});

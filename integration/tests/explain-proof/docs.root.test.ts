import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { run } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { type Scene, startScene } from './scene.ts';

const PAGE = new URL('../../../docs/explain.md', import.meta.url);
const EXAMPLE = /^```text\n\$ fairlead explain (.+)\n([\s\S]*?)\n```$/gm;

describe('docs/explain.md', () => {
  let scene: Scene;
  before(async () => {
    scene = await startScene('nftables');
  });
  after(() => scene.stop());

  it('shows what the command prints on a node', async (t) => {
    const page = await readFile(PAGE, 'utf8');
    const examples = [...page.matchAll(EXAMPLE)];
    assert.equal(examples.length, 1);
    for (const [, args = '', text = ''] of examples) {
      plantDrop(scene.client.ipv4);
      const out = await scene.explainText(t, ...args.split(' '));
      assert.equal(withoutNumbers(out), withoutNumbers(text));
      assert.ok(
        out.split('\n').every((line) => line.length <= 80),
        out,
      );
    }
  });
});

function plantDrop(source: string): void {
  const rule = `ip saddr ${source} tcp dport 8080 drop`;
  const chain = `chain guard { type filter hook forward priority 5; ${rule}; }`;
  run(['nft', '-f', '-'], `table inet planted { ${chain}; }`);
}

/** Ports, handles, times and the drawn endpoint differ from run to run, and with them line ends. */
function withoutNumbers(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/10\.244\.[23]\.10:8080(?! node)/g, 'ENDPOINT')
    .replaceAll(/(?<=10\.244\.1\.10):\d+/g, ':PORT')
    .replaceAll(/#\d+/g, '#HANDLE')
    .replaceAll(/pid \d+/g, 'pid PID')
    .replaceAll(/[\d.]+ ms/g, 'TIME ms');
}

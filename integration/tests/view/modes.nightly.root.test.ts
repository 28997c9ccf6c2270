import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Browser } from '../../../lab/browser/browser.ts';
import { SHOP } from '../top/shop.ts';
import { overflowOf } from './page-facts.ts';
import { RealView } from './real-view.ts';

interface Case {
  readonly mode: string;
  /** Source classes that the page must not show, and must say so. */
  readonly unseen: readonly string[];
  /** Whether open connections of pods are known. */
  readonly knowsOpen: boolean;
  /** Whether new connections of pods are among those who ask. */
  readonly showsPods: boolean;
}

const MODES: readonly Case[] = [
  { mode: 'iptables', unseen: [], knowsOpen: true, showsPods: true },
  { mode: 'tc-ebpf', unseen: ['this node itself'], knowsOpen: true, showsPods: false },
  {
    mode: 'socket-ebpf',
    unseen: ['pods of this node', 'this node itself'],
    knowsOpen: false,
    showsPods: false,
  },
];

const BUSY = `document.querySelector('.rope-box[data-service="shop/busy"]')`;

for (const { mode, unseen, knowsOpen, showsPods } of MODES) {
  describe(`the page of fairlead view in mode ${mode}`, () => {
    it('shows what the mode knows, and leaves out what it cannot know', async (t) => {
      const view = await RealView.enter(mode);
      t.after(() => view.leave());
      const { client } = view.site.network;
      if (!knowsOpen) view.site.putIntoCgroup(client.pid);
      await view.open();
      const browser = await Browser.start();
      t.after(() => browser.stop());
      const page = await browser.newPage();
      await page.look({ width: 1280 });
      await page.open(`${view.url}#/map`);
      view.load(client, { transport: 'TCP', address: SHOP.busy, port: 80 });
      view.load(client, { transport: 'TCP', address: SHOP.empty, port: 80 });
      await page.until(`Number(${BUSY}?.dataset.rate) > 0`, 'the busy Service');
      await page.until(
        `Number(document.querySelector('[data-end=rejected]')?.dataset.rate) > 0`,
        'rejected connections',
      );
      const note = await page.evaluate<string>(
        `document.querySelector('[data-fact=notes]').textContent`,
      );
      for (const each of unseen) assert.match(note, new RegExp(`Connections of ${each} leave no`));
      assert.equal(note.includes('leave no conntrack entry'), unseen.length > 0, note);
      const open = await page.evaluate<string>(
        `document.querySelector('[data-fact=new] .n').textContent`,
      );
      assert.match(open, knowsOpen ? /^[\d,]+ open/ : /^- open/);
      const pods = `Number(document.querySelector('[data-end=pod]')?.dataset.rate ?? 0) > 0`;
      if (showsPods) await page.until(pods, 'pods among those who ask');
      else assert.equal(await page.evaluate<boolean>(pods), false);
      assert.equal(await overflowOf(page), 0);
      assert.deepEqual(page.errors, []);
    });
  });
}

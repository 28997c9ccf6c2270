import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Browser } from '../../../lab/browser/browser.ts';
import { run } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { SHOP } from '../top/shop.ts';
import { overflowOf } from './page-facts.ts';
import { RealView } from './real-view.ts';

const to = (address: string) => ({ transport: 'TCP', address, port: 80 }) as const;
/** From what happens to its place on the page. */
const SOON_MS = 2000;

describe('the page of the real fairlead view', () => {
  it('shows what happens on the node within two seconds', async (t) => {
    const view = await RealView.enter('nftables');
    t.after(() => view.leave());
    await view.open('--allow-probes');
    const browser = await Browser.start();
    t.after(() => browser.stop());
    const page = await browser.newPage();
    await page.look({ width: 1280 });
    await page.open(`${view.url}#/map`);
    await page.until(
      `document.querySelector('[data-fact=rows]')?.dataset.value === '4'`,
      'the first tick',
    );
    await page.until(`document.querySelector('.dots canvas').dataset.shown === '4'`, 'the dots');
    const { client } = view.site.network;

    await t.test('a busy Service', async () => {
      view.load(client, to(SHOP.busy));
      await page.until(
        `Number(document.querySelector('.rope-box[data-service="shop/busy"]')?.dataset.rate) > 0`,
        'the busy Service',
        SOON_MS,
      );
      await page.until(
        `document.querySelector('[data-end=pod]') !== null`,
        'pods among those who ask',
      );
      await page.until(
        `Number(document.querySelector('[data-end=here]')?.dataset.rate) > 0`,
        'endpoints on this node',
      );
    });

    await t.test('a rejected one', async () => {
      view.load(client, to(SHOP.empty));
      await page.until(
        `Number(document.querySelector('[data-end=rejected]')?.dataset.rate) > 0`,
        'rejected connections',
        SOON_MS,
      );
      await page.until(
        `document.querySelector('[data-fact=attention]').textContent.includes('shop/empty')`,
        'its name',
      );
    });

    await t.test('an endpoint that is not ready', async () => {
      await page.evaluate(`location.hash = '#/service?name=shop/partly'; 0`);
      await page.until(
        `document.querySelector('tr[data-state="not ready"] [data-because]') !== null`,
        'the reason',
        SOON_MS,
      );
    });

    await t.test('an external change, and its repair', async () => {
      await page.evaluate(`location.hash = '#/changes'; 0`);
      await page.until(`document.querySelectorAll('.event').length > 0`, 'the history');
      run(['nft', 'delete', 'table', 'ip', 'fairlead']);
      await page.until(
        `document.querySelector('[data-kind=drift]')`,
        'the external change',
        SOON_MS,
      );
      await page.until(`document.querySelector('[data-kind=repaired]')`, 'the repair', SOON_MS);
    });

    await t.test('an explanation, proven by a packet', async () => {
      await page.evaluate(
        `location.hash = '#/path?target=shop/busy&from=pod:${client.ipv4}&probe=syn'; 0`,
      );
      await page.until(
        `document.querySelector('[data-code]')?.dataset.code === 'REACHES'`,
        'the answer',
      );
      await page.until(`document.querySelector('[data-fact=proven]')`, 'the proof');
      await page.until(
        `document.querySelector('[data-station=prerouting] .stop.ours')`,
        'a rule of Fairlead',
      );
    });

    await t.test('the findings of the doctor', async () => {
      await page.evaluate(`location.hash = '#/doctor'; 0`);
      await page.until(`document.querySelector('[data-verdict]')`, 'the verdict');
      await page.until(`document.querySelectorAll('.finding').length > 3`, 'its findings');
    });
    assert.equal(await overflowOf(page), 0);
    assert.deepEqual(page.errors, []);
  });
});

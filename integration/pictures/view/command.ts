import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { Browser } from '../../../lab/browser/browser.ts';
import type { Page } from '../../../lab/browser/page.ts';
import { run } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { startHost } from '../../../src/linux/testing/hosts/host.ts';
import { RealView } from '../../tests/view/real-view.ts';
import { smallPng } from '../small-png.ts';
import { LOAD_BALANCER, REVIEWS, targets, townManifests } from './town.ts';

interface Options {
  readonly folder: string;
  readonly seconds: number;
}

interface Screen {
  readonly name: string;
  readonly route: string;
  /** True when there is something to see. */
  readonly isThere: string;
  readonly width?: number;
  /** Planted before, and removed after. */
  readonly planted?: readonly [plant: string, remove: string];
}

/** So that a screen with little on it has a small picture. */
const LEAST_HEIGHT = 420;

const GUARD = [
  `table inet guard {
    chain forward {
      type filter hook forward priority 10;
      ip daddr 10.244.0.0/16 tcp dport 8080 drop
    }
  }`,
  'delete table inet guard',
] as const;

export const command = new Command()
  .option(
    '--folder <path>',
    'where pictures go',
    join(import.meta.dirname, '../../../docs/pictures'),
  )
  .option('--seconds <count>', 'how long connections are made before the first picture', Number, 45)
  .action(takePictures);

async function takePictures({ folder, seconds }: Options): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const view = await RealView.enter('nftables', (pods) =>
    townManifests(pods, { hasReviews: true }),
  );
  const browser = await Browser.start();
  try {
    await view.open('--allow-probes');
    const page = await browser.newPage();
    await page.look({ width: 1280, theme: 'dark' });
    await page.open(`${view.url}#/map`);
    await live(view, seconds);
    for (const theme of ['dark', 'light'] as const) {
      for (const screen of screensOf(view)) {
        const { width = 1280, name } = screen;
        await page.look({ width, theme, height: LEAST_HEIGHT });
        const bytes = smallPng(await pictureOf(page, screen));
        writeFileSync(join(folder, `view-${name}-${theme}.png`), bytes);
        console.log(`view-${name}-${theme}.png  ${Math.round(bytes.length / 1000)} kB`);
      }
    }
    for (const { source, text } of page.errors) console.error(`${source}: ${text}`);
  } finally {
    await browser.stop();
    await view.leave();
  }
}

/** Connections for a while, and some events to tell of. */
async function live(view: RealView, seconds: number): Promise<void> {
  const { client, outside, endpoints } = view.site.network;
  const node = await startHost('node', { here: true });
  view.onLeave(() => node.close());
  const all = targets();
  const some = (addresses: readonly string[], factor: number) =>
    addresses.map((address) => ({
      address,
      count: Math.max(
        1,
        Math.round((all.find((each) => each.address === address)?.weight ?? 4) * factor),
      ),
    }));
  const addresses = all.map(({ address }) => address);
  view.loadAll(client, some([...addresses, REVIEWS], 1));
  view.loadAll(node, some(addresses.slice(1, 7), 0.3));
  view.loadAll(outside, some([addresses[0] ?? '', addresses[2] ?? '', addresses[7] ?? ''], 0.8));
  view.load(outside, { transport: 'TCP', address: LOAD_BALANCER, port: 80, count: 1 });
  const pods = endpoints.map(({ ipv4 }) => ipv4);
  const events = [
    () => view.write(townManifests(pods, { hasReviews: true, ledgers: 1 })),
    () => run(['nft', 'flush', 'chain', 'ip', 'fairlead', 'masquerading']),
    () => view.write(townManifests(pods, { hasReviews: true })),
    () => view.write(townManifests(pods, { hasReviews: false })),
  ];
  for (const happen of events) {
    await delay((seconds * 1000) / (events.length + 1));
    happen();
  }
  await delay((seconds * 1000) / (events.length + 1));
}

function screensOf(view: RealView): readonly Screen[] {
  const from = `from=pod:${view.site.network.client.ipv4}&probe=syn`;
  const map = `document.querySelector('.rope-box, .bars li') && document.querySelector('.dots canvas').dataset.shown > 600 && document.querySelector('[data-endpoint]')`;
  const path = `document.querySelectorAll('.wire .line').length > 3`;
  return [
    { name: 'map', route: '#/map?service=shop/web', isThere: map },
    { name: 'map-narrow', route: '#/map?service=shop/web', isThere: map, width: 390 },
    { name: 'services', route: '#/services?q=shop', isThere: `document.querySelector('a.item')` },
    {
      name: 'service',
      route: '#/service?name=shop/web',
      isThere: `document.querySelector('[data-endpoint]') && !document.querySelector('[data-fact=new]').textContent.startsWith('-')`,
    },
    { name: 'changes', route: '#/changes', isThere: `document.querySelector('[data-kind=drift]')` },
    { name: 'path', route: `#/path?target=shop/web&${from}`, isThere: path },
    {
      name: 'path-dropped',
      route: `#/path?target=shop/web:http&${from}`,
      isThere: path,
      planted: GUARD,
    },
    { name: 'doctor', route: '#/doctor', isThere: `document.querySelector('[data-verdict]')` },
  ];
}

async function pictureOf(page: Page, { name, route, isThere, planted }: Screen): Promise<Buffer> {
  if (planted) run(['nft', '-f', '-'], planted[0]);
  try {
    await page.evaluate(`location.hash = ${JSON.stringify(route)}; 0`);
    await page.until(isThere, name);
  } finally {
    if (planted) run(['nft', '-f', '-'], planted[1]);
  }
  // Two answers of a polled Service, so that its rates are there.
  await delay(name.startsWith('map') || name === 'service' ? 4500 : 300);
  await page.settle();
  return await page.picture({ mostHeight: 1500 });
}

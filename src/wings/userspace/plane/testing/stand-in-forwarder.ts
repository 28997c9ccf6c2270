import { Socket } from 'node:net';
import { FORWARDER_ADDRESSES } from '../../../../dataplanes/shared/forwarder-addresses.ts';
import {
  FAMILIES,
  type Family,
  SOURCE_CLASSES,
  type SourceClass,
} from '../../../../forwarding/model.ts';
import { AddressCalls } from '../../../../linux/sockets/address-calls.ts';
import { type Listener, openListener } from '../../../../linux/sockets/listener.ts';
import { decodeSocketAddress } from '../../../../linux/sockets/socket-address.ts';
import { close } from '../../../../linux/sockets/socket-libc.ts';
import { untilReady } from '../../../../linux/sockets/until-ready.ts';

const LONGEST_MS = 600_000;

/**
 * Listens as the forwarder does, and connects to no endpoint. It answers a client as a host of a test does, with
 * `<source class>><original destination>` in the place of the name.
 */
export class StandInForwarder implements Disposable {
  readonly #listeners: readonly (Listener & { family: Family; source: SourceClass })[];
  readonly #ended = new AbortController();
  readonly #calls = new AddressCalls();

  constructor() {
    this.#listeners = FAMILIES.flatMap((family) =>
      SOURCE_CLASSES.map((source) => ({
        ...openListener(FORWARDER_ADDRESSES[family]),
        family,
        source,
      })),
    );
    for (const listener of this.#listeners) void this.#serve(listener);
  }

  readonly addresses = FORWARDER_ADDRESSES;

  get ports(): Readonly<Record<Family, Readonly<Record<SourceClass, number>>>> {
    const portsOf = (family: Family) =>
      Object.fromEntries(
        this.#listeners.filter((each) => each.family === family).map((l) => [l.source, l.port]),
      ) as Record<SourceClass, number>;
    return { IPv4: portsOf('IPv4'), IPv6: portsOf('IPv6') };
  }

  [Symbol.dispose](): void {
    this.#ended.abort();
    for (const { fd } of this.#listeners) close(fd);
  }

  async #serve({ fd, family, source }: Listener & { family: Family; source: SourceClass }) {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      try {
        await untilReady(fd, 'readable', { timeoutMs: LONGEST_MS, signal });
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      }
      const accepted = this.#calls.accept(fd);
      if (accepted < 0) continue;
      const peer = decodeSocketAddress(this.#calls.peer);
      const failed = this.#calls.originalDestination(accepted, family === 'IPv6');
      const to = decodeSocketAddress(this.#calls.address);
      const by = failed < 0 ? `${source}>errno${-failed}` : `${source}>${to.address}#${to.port}`;
      answer(accepted, `${by} ${peer.address} ${peer.port}`);
    }
  }
}

function answer(fd: number, text: string): void {
  const socket = new Socket({ fd, readable: true, writable: true });
  socket.on('data', (said) => socket.end(`${text} ${said.length}`));
  // A client that gives up is no failure.
  socket.on('error', () => socket.destroy());
}

import assert from 'node:assert/strict';
import { after, before, beforeEach } from 'node:test';
import type { RowChange } from '../../../src/dataplanes/contract.ts';
import { type Forwarding, servicePortKey } from '../../../src/forwarding/model.ts';
import { compiledProgram } from '../../../src/linux/ebpf/testing/compiled-program.ts';
import type { Answer } from '../../../src/linux/testing/hosts/host-messages.ts';
import { allParts } from '../../../src/modes/mode-registry.ts';
import { frontendAt, serviceOf } from '../../../src/wings/ebpf/plane/testing/ebpf-service.ts';
import {
  addNatChains,
  type NodeNetwork,
  nodeNetwork,
} from '../../../src/wings/ebpf/plane/testing/node-network.ts';
import { ebpfSettings } from '../../../src/wings/ebpf/testing/whole-mode.ts';
import { ownRunFolder, WholeUserspace } from './whole-userspace.ts';

const VIRTUAL = '10.96.0.1';
export const TO_WEB = { transport: 'TCP', address: VIRTUAL, port: 80 } as const;
/** A connection in the queue of a killed forwarder waits for the next, whose start may take seconds. */
export const PATIENTLY = { ...TO_WEB, timeoutMs: 30_000 };

/** A node with a client and endpoints for the tests of one file; cleaned up before each of them. */
export class UserspaceSite {
  readonly folder = ownRunFolder();
  #network: NodeNetwork | undefined;

  /** Registers what is done before and after the tests of this file. */
  static forTests(): UserspaceSite {
    const site = new UserspaceSite();
    before(async () => await site.#enter());
    beforeEach(async () => await site.cleanUp());
    after(async () => await site.#leave());
    return site;
  }

  get network(): NodeNetwork {
    assert.ok(this.#network);
    return this.#network;
  }

  async cleanUp(): Promise<void> {
    const ebpf = ebpfSettings(this.network);
    const around = { ebpf, runFolder: this.folder.path, isCleanup: true } as const;
    for (const part of await allParts()) await part.open(around).remove();
  }

  web(endpoints = this.network.endpoints.map(({ ipv4 }) => ipv4)): Forwarding {
    return serviceOf('web', { frontends: [frontendAt(VIRTUAL)], endpoints });
  }

  userspace(around = {}): WholeUserspace {
    return new WholeUserspace({ runFolder: this.folder.path, ...around });
  }

  /** Connects again and again until it is stopped; gives every answer. */
  keepAsking(): () => Promise<readonly Answer[]> {
    let isOver = false;
    const answers: Answer[] = [];
    const asking = (async () => {
      while (!isOver) answers.push(...(await this.network.client.ask(PATIENTLY)));
    })();
    return async () => {
      isOver = true;
      await asking;
      return answers;
    };
  }

  async #enter(): Promise<void> {
    this.#network = await nodeNetwork('userspace');
    addNatChains();
    for (const name of ['sock', 'tc'] as const) compiledProgram(name);
  }

  async #leave(): Promise<void> {
    await this.cleanUp();
    this.network.leave();
    this.folder.leave();
  }
}

export function changeOf(before: Forwarding, after: Forwarding): RowChange {
  return { key: servicePortKey(after.id), id: after.id, before, after };
}

export function assertAllServed(answers: readonly Answer[]): void {
  const failed = answers.filter(({ by }) => !/^e\d$/.test(by));
  assert.deepEqual(failed, [], `${failed.length} of ${answers.length} failed`);
  assert.ok(answers.length > 0);
}

export async function connectionCount(mode: WholeUserspace): Promise<number> {
  return (await mode.report())?.process?.totals.connections ?? 0;
}

import type {
  Attachment,
  Difference,
  Drift,
  Holding,
  NodeFacts,
} from '../../../../dataplanes/contract.ts';
import { Differences } from '../../../../dataplanes/differences.ts';
import { notInspected } from '../../../../dataplanes/shared/rejections.ts';
import { watchRuleEvents } from '../../../../dataplanes/shared/rule-events.ts';
import { FAMILIES } from '../../../../forwarding/model.ts';
import type { VirtualServerKey } from '../../../../linux/ipvs/ipvs-model.ts';
import type { Netlink } from '../../../../linux/netlink/netlink-socket.ts';
import { GenerationWatch } from '../../../../linux/nftables/generation-watch.ts';
import { NftConnection } from '../../../../linux/nftables/nft-connection.ts';
import type { TableFamily } from '../../../../linux/nftables/nftables-protocol.ts';
import { asCaptureError } from '../ipvs-rejection.ts';
import { concernsUs, listenToRouting, objectsOf } from './capture-drift.ts';
import { familyOfAddress, readElements, writeElements } from './capture-elements.ts';
import {
  isActive,
  isHooked,
  losesServers,
  readStructure,
  reconfigureTable,
  repairTable,
  retireTable,
} from './capture-fixed-parts.ts';
import type {
  CaptureChange,
  CaptureElements,
  CaptureState,
  CaptureTables,
  Ensured,
} from './capture-model.ts';
import { TABLE_FAMILIES, TABLES } from './capture-sets.ts';
import { readInventory } from './inventory.ts';
import { captureMark } from './marks.ts';
import {
  addRouting,
  deleteForeignRules,
  deleteRouting,
  foreignRules,
  marksInUse,
  missingRouting,
  readRouting,
  routingText,
} from './routing.ts';

export interface CapturesOptions {
  /** Opens a netfilter socket: one for writes, one for each concurrent read, one for events. */
  readonly openNetlink: (kind: 'requests' | 'events') => Netlink;
}

/** See `CaptureTables`. */
export class Captures implements CaptureTables {
  readonly #options: CapturesOptions;
  #connection: NftConnection | undefined;
  /** Undefined: before the first `ensure`, or after `retire` and `remove`. */
  #facts: NodeFacts | undefined;
  #hasReported = false;

  constructor(options: CapturesOptions) {
    this.#options = options;
  }

  async hasOtherMark({ masqueradeMark }: NodeFacts): Promise<boolean> {
    const mark = captureMark(masqueradeMark);
    if (this.#facts) return captureMark(this.#facts.masqueradeMark) !== mark;
    return await this.#rejecting(async () => (await marksInUse()).some((each) => each !== mark));
  }

  async ensure(facts: NodeFacts): Promise<Ensured> {
    const differences = new Differences();
    return await this.#rejecting(async () => {
      const before = this.#kernel.writtenCount;
      const mark = captureMark(facts.masqueradeMark);
      const found = await readRouting();
      noteRouting(found, mark, differences);
      // Packets with a mark that no rule has would leave the node: first in, last out.
      const added = await addRouting(found, mark);
      for (const family of TABLE_FAMILIES) {
        const stored = await readStructure(this.#kernel, family);
        // Only they say which virtual servers are ours.
        const servers = losesServers(stored, facts, family) ? await this.#serversOf(family) : [];
        const batch = this.#kernel.begin();
        repairTable(batch, family, { stored, facts, differences });
        writeElements(batch, { serversAdd: servers });
        await this.#kernel.commit(batch);
      }
      const routed = added + (await deleteForeignRules(found, mark));
      this.#facts = facts;
      return {
        differences: differences.described,
        differenceCount: differences.count,
        writeCount: this.#kernel.writtenCount - before + routed,
      };
    });
  }

  async diff(facts: NodeFacts): Promise<readonly Difference[]> {
    const differences = Differences.ofAll();
    return await this.#rejecting(async () => {
      using connection = this.#anotherConnection();
      for (const family of TABLE_FAMILIES) {
        const stored = await readStructure(connection, family);
        repairTable(connection.begin(), family, { stored, facts, differences });
      }
      const found = await readRouting();
      noteRouting(found, captureMark(facts.masqueradeMark), differences);
      return differences.described;
    });
  }

  async configure(facts: NodeFacts): Promise<void> {
    const before = this.#known();
    await this.#rejecting(async () => {
      const mark = captureMark(facts.masqueradeMark);
      const isOther = mark !== captureMark(before.masqueradeMark);
      const found = isOther ? await readRouting() : { rules: [], routes: [] };
      if (isOther) await addRouting(found, mark);
      const batch = this.#kernel.begin();
      for (const family of TABLE_FAMILIES) {
        reconfigureTable(batch, family, { before, after: facts });
      }
      await this.#kernel.commit(batch);
      await deleteForeignRules(found, mark);
      this.#facts = facts;
    });
  }

  async write(change: CaptureChange): Promise<void> {
    this.#known();
    await this.#rejecting(async () => {
      const batch = this.#kernel.begin();
      writeElements(batch, change);
      await this.#kernel.commit(batch);
    });
  }

  async read(): Promise<CaptureElements> {
    return await this.#rejecting(async () => {
      using connection = this.#anotherConnection();
      return await readElements(connection);
    });
  }

  async watch(onDrift: (drift: Drift) => void, signal: AbortSignal): Promise<void> {
    const report = (drift: Drift): void => {
      this.#hasReported = true;
      onDrift(drift);
    };
    const failure = new AbortController();
    const ended = AbortSignal.any([signal, failure.signal]);
    const passOn = (error: unknown): never => {
      failure.abort();
      throw asCaptureError(error);
    };
    const results = await Promise.allSettled([
      this.#watchTables(report, ended).catch(passOn),
      this.#watchRouting(report, ended).catch(passOn),
    ]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  takeReported(): boolean {
    const hasReported = this.#hasReported;
    this.#hasReported = false;
    return hasReported;
  }

  async attachments(): Promise<readonly Attachment[]> {
    const facts = this.#known();
    return await this.#rejecting(async () => {
      using connection = this.#anotherConnection();
      const tables: Attachment[] = [];
      for (const family of TABLE_FAMILIES) {
        const isAttached = isHooked(await readStructure(connection, family), facts, family);
        tables.push({
          place: 'nftables',
          name: `table ${family} ${TABLES[family].name}`,
          isAttached,
        });
      }
      const missing = missingRouting(await readRouting(), captureMark(facts.masqueradeMark));
      const routing = FAMILIES.map((family) => ({
        place: 'routing',
        name: family === 'IPv4' ? 'ip' : 'ip6',
        isAttached: !missing.some((part) => part.family === family),
      }));
      return [...tables, ...routing];
    });
  }

  async state(): Promise<CaptureState> {
    return await this.#rejecting(async () => {
      using connection = this.#anotherConnection();
      const states = new Set<CaptureState>();
      for (const family of TABLE_FAMILIES) {
        const stored = await readStructure(connection, family);
        if (stored.chains.length > 0) states.add(isActive(stored) ? 'active' : 'retired');
      }
      if (states.has('active')) return 'active';
      return states.has('retired') ? 'retired' : 'absent';
    });
  }

  async inventory(): Promise<readonly Holding[]> {
    return await this.#rejecting(async () => {
      using connection = this.#anotherConnection();
      return await readInventory(connection);
    });
  }

  async retire(): Promise<void> {
    await this.#rejecting(async () => {
      const batch = this.#kernel.begin();
      for (const family of TABLE_FAMILIES) {
        retireTable(batch, family, await readStructure(this.#kernel, family));
      }
      await this.#kernel.commit(batch);
      this.#facts = undefined;
    });
  }

  async remove(): Promise<void> {
    await this.#rejecting(async () => {
      // What is missing from now on is wanted so.
      this.#facts = undefined;
      const batch = this.#kernel.begin();
      for (const family of TABLE_FAMILIES) {
        // The kernel rejects the deletion of a table that does not exist, so create it first.
        batch.addTable(TABLES[family], '');
        batch.deleteTable(TABLES[family]);
      }
      await this.#kernel.commit(batch);
      await deleteRouting(await readRouting());
    });
  }

  async #serversOf(family: TableFamily): Promise<readonly VirtualServerKey[]> {
    const { servers } = await this.read();
    return [...servers.values()].filter(({ address }) => familyOfAddress(address) === family);
  }

  async #watchTables(onDrift: (drift: Drift) => void, signal: AbortSignal): Promise<void> {
    using reader = this.#anotherConnection();
    const losses = new GenerationWatch({
      generation: () => reader.generation(),
      ownCommits: () => this.#kernel.commits,
    });
    const nothing = { note: () => undefined, noteEverything: () => undefined };
    const events = {
      netlink: this.#options.openNetlink('events'),
      isOurs: (portId: number) => portId === this.#connection?.portId,
      concerns: concernsUs,
      describe: objectsOf,
      reported: () => nothing,
      losses,
    };
    await watchRuleEvents(events, onDrift, signal);
  }

  async #watchRouting(onDrift: (drift: Drift) => void, signal: AbortSignal): Promise<void> {
    const checks: Promise<void>[] = [];
    const failure = new AbortController();
    const check = async (): Promise<void> => {
      const facts = this.#facts;
      if (!facts) return;
      const mark = captureMark(facts.masqueradeMark);
      const [first] = missingRouting(await readRouting(), mark);
      if (!first || this.#facts !== facts) return;
      onDrift({ what: `deleted ${routingText(first.family, first.what, mark)}` });
    };
    const onDeleted = (): void => {
      checks.push(check().catch((error: unknown) => failure.abort(error)));
    };
    await listenToRouting(onDeleted, AbortSignal.any([signal, failure.signal]));
    await Promise.all(checks);
    failure.signal.throwIfAborted();
  }

  #known(): NodeFacts {
    if (!this.#facts) throw notInspected('tables', 'IPVS_NOT_INSPECTED');
    return this.#facts;
  }

  async #rejecting<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      throw asCaptureError(error);
    }
  }

  get #kernel(): NftConnection {
    this.#connection ??= this.#anotherConnection();
    return this.#connection;
  }

  #anotherConnection(): NftConnection {
    return new NftConnection(this.#options.openNetlink('requests'));
  }
}

function noteRouting(
  found: Awaited<ReturnType<typeof readRouting>>,
  mark: number,
  differences: Differences,
): void {
  for (const { family, what } of missingRouting(found, mark)) {
    differences.add(() => ({ kind: 'missing', object: routingText(family, what, mark) }));
  }
  for (const rule of foreignRules(found, mark)) {
    const what = rule.inInterface === undefined ? 'rule' : 'own-rule';
    const object = routingText(rule.family, what, rule.mark);
    differences.add(() => ({ kind: 'foreign', object }));
  }
}

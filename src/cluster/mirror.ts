import { ClusterError } from './cluster-error.ts';
import type { Interner } from './narrow/interner.ts';
import type { Narrowed } from './narrow/meta.ts';
import { narrow, readKey, readResourceVersion } from './narrow/narrow.ts';
import { readStamp } from './narrow/read-stamp.ts';
import type { Kind, ObjectKey, ObjectOfKind } from './object-kinds.ts';
import { RelistedObjects, Told } from './reported-objects.ts';
import type { SourceEvent } from './source.ts';
import type { Stamp } from './stamp.ts';

export interface MirrorOptions<K extends Kind> {
  readonly kind: K;
  readonly interner: Interner;
  /** Changes an object after it was narrowed, from what the API server sent. */
  readonly refine?: (object: ObjectOfKind[K], raw: unknown) => ObjectOfKind[K];
  readonly onEvent: (event: SourceEvent) => void;
  readonly onProblem: (problem: ClusterError) => void;
}

/**
 * Tracks the objects of one kind: reports what each list or event changes, and the version from
 * which a watch can resume.
 */
export class Mirror<K extends Kind> {
  readonly #options: MirrorOptions<K>;
  readonly #told = new Told<ObjectOfKind[K]>();
  readonly #teller: Teller<ObjectOfKind[K]>;
  #listing: Listing<ObjectOfKind[K]> | undefined;
  #resumeAt = '';
  #newestSeen = 0;
  #isSynced = false;
  #skippedCount = 0;

  constructor(options: MirrorOptions<K>) {
    this.#options = options;
    this.#teller = {
      put: (item) => this.#tellPut(item),
      delete: (key, stamp) => this.#tellDelete(key, stamp),
    };
  }

  /** Empty: no version to resume from, so the next step is a list. */
  get resumeAt(): string {
    return this.#resumeAt;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  get skippedCount(): number {
    return this.#skippedCount;
  }

  beginList(): void {
    this.#resumeAt = '';
    this.#listing = beginListing(this.#told, this.#teller);
  }

  put(raw: unknown): void {
    const item = this.#narrowed(raw);
    if (item === undefined) this.#skipObject(raw);
    else (this.#listing ?? this.#teller).put(this.#stamped(item, raw));
    this.#advance(item?.resourceVersion ?? readResourceVersion(raw));
  }

  #narrowed(raw: unknown): Narrowed<ObjectOfKind[K]> | undefined {
    const { kind, interner, refine } = this.#options;
    const item = narrow(kind, raw, interner);
    if (item === undefined || refine === undefined) return item;
    return { ...item, object: refine(item.object, raw) };
  }

  delete(raw: unknown): void {
    const key = readKey(raw, this.#options.interner);
    if (key === undefined) this.skip('a delete event has no object name');
    else (this.#listing ?? this.#teller).delete(key, readStamp(raw));
    this.#advance(readResourceVersion(raw));
  }

  bookmark(resourceVersion: string): void {
    this.#advance(resourceVersion);
  }

  finishList(resourceVersion: string): void {
    const version = Number(resourceVersion);
    const wentBack = version < this.#newestSeen;
    this.#newestSeen = version;
    if (wentBack) {
      // A restored etcd counts versions again, so equal versions may have different contents.
      this.#told.forgetVersions();
      throw new ClusterError(
        'CLUSTER_GONE',
        "the API server's resourceVersion went back (restored from a backup?)",
        {
          next: 'no action needed: the list is read again',
        },
      );
    }
    this.#listing?.finish();
    this.#listing = undefined;
    this.#resumeAt = resourceVersion;
    this.tellSynced();
  }

  tellSynced(): void {
    if (this.#isSynced) return;
    this.#isSynced = true;
    this.#options.onEvent({ kind: this.#options.kind, type: 'synced' });
  }

  /** The version to resume from has expired on the server. */
  expire(): void {
    this.#resumeAt = '';
  }

  skip(what: string): void {
    this.#skippedCount++;
    this.#options.onProblem(
      new ClusterError('CLUSTER_MALFORMED', `${this.#options.kind}: ${what}; object ignored`, {
        next: 'other objects are not affected; if the API server is unmodified Kubernetes, report it as a bug',
      }),
    );
  }

  /** A hundred thousand objects of an initial list are no news: who wrote them is not read. */
  #stamped(item: Narrowed<ObjectOfKind[K]>, raw: unknown): Narrowed<ObjectOfKind[K]> {
    return this.#isSynced ? { ...item, stamp: readStamp(raw) } : item;
  }

  #skipObject(raw: unknown): void {
    const key = readKey(raw, this.#options.interner);
    // The version reported before is outdated.
    if (key !== undefined) (this.#listing ?? this.#teller).delete(key);
    this.skip(key === undefined ? 'an object has no name' : `object ${key} cannot be read`);
  }

  #advance(resourceVersion: string): void {
    // The objects of a list have older versions than the list itself.
    if (this.#listing !== undefined || resourceVersion === '') return;
    this.#resumeAt = resourceVersion;
    this.#newestSeen = Math.max(this.#newestSeen, Number(resourceVersion) || 0);
  }

  #tellPut({ key, resourceVersion, object, stamp }: Narrowed<ObjectOfKind[K]>): void {
    this.#told.put(key, resourceVersion);
    // The compiler cannot see that kind and object belong together.
    this.#options.onEvent({
      kind: this.#options.kind,
      type: 'put',
      key,
      object,
      ...(stamp === undefined ? {} : { stamp }),
    } as unknown as SourceEvent);
  }

  #tellDelete(key: ObjectKey, stamp: Stamp | undefined): void {
    if (!this.#told.delete(key)) return;
    const { kind, onEvent } = this.#options;
    onEvent({ kind, type: 'delete', key, ...(stamp === undefined ? {} : { stamp }) });
  }
}

interface Teller<T> {
  put(item: Narrowed<T>): void;
  /** `stamp`: of the event that deleted it, if there was one. */
  delete(key: ObjectKey, stamp?: Stamp): void;
}

/** A list that is being received: begun, filled, and finished when complete. */
interface Listing<T> extends Teller<T> {
  finish(): void;
}

/**
 * The first list is reported as it arrives. A later one is reported when it is complete, deletes
 * first, so that no mixture of old and new is visible, nor a part of a truncated list.
 */
function beginListing<T>(told: Told<T>, teller: Teller<T>): Listing<T> {
  if (told.isEmpty) return { ...teller, finish: () => undefined };
  const fresh = new RelistedObjects(told);
  return {
    put: (item) => fresh.put(item),
    delete: (key) => fresh.delete(key),
    finish() {
      const { gone, changed } = told.compare(fresh);
      for (const key of gone) teller.delete(key);
      for (const item of changed) teller.put(item);
    },
  };
}

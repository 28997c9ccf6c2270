import type { Answer } from './api-answer.ts';
import { HTTP_OK, readRejection } from './api-rejection.ts';
import { ClusterError } from './cluster-error.ts';
import { missingRights, type Query, type Resource, urlOf } from './resources.ts';
import type { RawList } from './wire/encoding.ts';

/** The part of a connection that list and watch need. */
export interface Getter {
  get(path: string, signal: AbortSignal): Promise<Answer>;
}

export interface ListOptions {
  readonly getter: Getter;
  readonly resource: Resource;
  /** `0`: any version, from the cache of the server. Empty: the newest. */
  readonly resourceVersion: '' | '0';
  readonly signal: AbortSignal;
  readonly silenceMs: number;
  readonly onItem: (raw: unknown) => void;
  /** The list starts over: discard the items so far. */
  readonly onRestart: () => void;
}

const PAGE_SIZE = '500';

/** Passes every object of a resource to `onItem`; resolves with the resourceVersion of the list. */
export async function listAll(options: ListOptions): Promise<string> {
  try {
    return await listPages(options, { limit: PAGE_SIZE });
  } catch (error) {
    // The continue token expired. A list without a limit has none.
    if (!(error instanceof ClusterError) || error.code !== 'CLUSTER_GONE') throw error;
    options.onRestart();
    return await listPages(options, {});
  }
}

async function listPages(options: ListOptions, paging: Query): Promise<string> {
  const { resource, resourceVersion } = options;
  const followed = new Set<string>();
  let page = await readPage(options, {
    ...paging,
    ...(resourceVersion === '' ? {} : { resourceVersion }),
  });
  // The continue token includes the version; the API rejects both together.
  while (page.next !== '') {
    if (followed.has(page.next)) throw endless(resource);
    followed.add(page.next);
    page = await readPage(options, { ...paging, continue: page.next });
  }
  return page.resourceVersion;
}

async function readPage(options: ListOptions, query: Query): Promise<RawList> {
  const { getter, resource, signal } = options;
  const answer = await getter.get(urlOf(resource, query), signal);
  if (answer.status !== HTTP_OK) {
    throw await readRejection(answer, `list ${resource.path}`, missingRights(resource));
  }
  answer.limitSilence(options.silenceMs);
  const chunks: Buffer[] = [];
  for await (const chunk of answer.body()) chunks.push(chunk);
  const list = answer.encoding.readList(Buffer.concat(chunks), resource.kind);
  // Without a resourceVersion no watch can follow, and changes in between would be lost.
  if (list === undefined || list.resourceVersion === '') throw malformed(resource);
  for (const item of list.items) options.onItem(item);
  return list;
}

function malformed(resource: Resource): ClusterError {
  return new ClusterError(
    'CLUSTER_MALFORMED',
    `list ${resource.path}: the response is not a list`,
    {
      next: 'check that the server address in the kubeconfig is that of an API server',
    },
  );
}

/** A server or proxy that ignores the continue token. */
function endless(resource: Resource): ClusterError {
  return new ClusterError(
    'CLUSTER_MALFORMED',
    `list ${resource.path}: the server repeats a page (same continue token)`,
    {
      next: 'retried automatically; if it persists, check for a proxy that caches responses',
    },
  );
}

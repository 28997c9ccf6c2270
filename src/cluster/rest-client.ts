import type { Answer } from './api-answer.ts';
import type { PlainRequest } from './api-connection.ts';
import { readRejection } from './api-rejection.ts';
import { ClusterError } from './cluster-error.ts';
import { arrayAt, isRecord, type JsonRecord, parseJson, recordAt, textAt } from './json.ts';

/** The part of a connection that it needs. */
export interface Sender {
  send(request: PlainRequest, signal: AbortSignal): Promise<Answer>;
}

const HTTP_OK = 200;
const HTTP_MULTIPLE_CHOICES = 300;
const HTTP_FORBIDDEN = 403;
const HTTP_NOT_FOUND = 404;
const SILENCE_MS = 30_000;
const PAGE_SIZE = '500';
const FIELD_MANAGER = 'fairlead';
/** JSON is YAML. */
const APPLY_MEDIA_TYPE = 'application/apply-patch+yaml';

/** Single requests for objects in JSON, as an administrator makes them. Throws ClusterError. */
export class RestClient {
  readonly #sender: Sender;
  readonly #signal: AbortSignal;

  constructor(sender: Sender, signal: AbortSignal) {
    this.#sender = sender;
    this.#signal = signal;
  }

  /** Undefined: it does not exist. */
  async get(path: string): Promise<JsonRecord | undefined> {
    return await this.#ask({ method: 'GET', path }, 'read');
  }

  /** Every object of a collection, page by page; undefined: the server has no such collection. */
  async list(path: string, query: Readonly<Record<string, string>> = {}) {
    const items: JsonRecord[] = [];
    let next = '';
    do {
      const paging = next === '' ? {} : { continue: next };
      const parameters = new URLSearchParams({ ...query, limit: PAGE_SIZE, ...paging });
      const page = await this.#ask({ method: 'GET', path: `${path}?${parameters}` }, 'list');
      if (page === undefined) return undefined;
      items.push(...arrayAt(page, 'items').filter(isRecord));
      next = textAt(recordAt(page, 'metadata'), 'continue');
    } while (next !== '');
    return items;
  }

  async create(path: string, object: object): Promise<JsonRecord> {
    const body = JSON.stringify(object);
    return await this.#mustAsk({ method: 'POST', path, body }, 'create in');
  }

  /** Server-side apply: creates the object, or sets the fields that are given. */
  async apply(path: string, object: object): Promise<JsonRecord> {
    return await this.#apply(path, object, {});
  }

  /** Throws what `apply` would throw, and changes nothing. */
  async tryApply(path: string, object: object): Promise<void> {
    await this.#apply(path, object, { dryRun: 'All' });
  }

  async #apply(
    path: string,
    object: object,
    more: Readonly<Record<string, string>>,
  ): Promise<JsonRecord> {
    const parameters = new URLSearchParams({ fieldManager: FIELD_MANAGER, force: 'true', ...more });
    return await this.#mustAsk(
      {
        method: 'PATCH',
        path: `${path}?${parameters}`,
        body: JSON.stringify(object),
        contentType: APPLY_MEDIA_TYPE,
      },
      'apply',
    );
  }

  /** False: it did not exist. */
  async delete(path: string): Promise<boolean> {
    return (await this.#ask({ method: 'DELETE', path }, 'delete')) !== undefined;
  }

  async #mustAsk(request: PlainRequest, verb: string): Promise<JsonRecord> {
    const answer = await this.#sender.send(request, this.#signal);
    return await readObject(answer, `${verb} ${pathOf(request)}`);
  }

  async #ask(request: PlainRequest, verb: string): Promise<JsonRecord | undefined> {
    const answer = await this.#sender.send(request, this.#signal);
    if (answer.status === HTTP_NOT_FOUND) {
      answer.discard();
      return undefined;
    }
    return await readObject(answer, `${verb} ${pathOf(request)}`);
  }
}

function pathOf({ path }: PlainRequest): string {
  return path.split('?')[0] ?? path;
}

async function readObject(answer: Answer, what: string): Promise<JsonRecord> {
  if (answer.status < HTTP_OK || answer.status >= HTTP_MULTIPLE_CHOICES) {
    throw forAdministrator(await readRejection(answer, what));
  }
  answer.limitSilence(SILENCE_MS);
  const chunks: Buffer[] = [];
  for await (const chunk of answer.body()) chunks.push(chunk);
  const value = parseJson(Buffer.concat(chunks).toString('utf8'))?.value;
  if (isRecord(value)) return value;
  throw new ClusterError('CLUSTER_MALFORMED', `${what}: the response is not a JSON object`, {
    next: 'check that the server address in the kubeconfig is that of an API server',
  });
}

/** The reader of a rejection thinks of a proxy that lacks its role. */
function forAdministrator(error: ClusterError): ClusterError {
  if (error.status !== HTTP_FORBIDDEN) return error;
  return new ClusterError(error.code, error.message, {
    next: 'use the kubeconfig of a user who may do this, such as cluster-admin (--kubeconfig, --context)',
    status: error.status,
    cause: error,
  });
}

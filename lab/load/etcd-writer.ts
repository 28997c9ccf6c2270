import http from 'node:http';
import { LabError } from '../host/errors.ts';
import { dialTcp } from '../host/sockets.ts';
import type { StoredObject } from './objects.ts';

const ETCD = { address: '127.0.0.1', port: 2379 };
const OBJECTS_PER_TRANSACTION = 1_000;
const TRANSACTIONS_AT_ONCE = 4;

export interface EtcdWrite {
  readonly namespacePath: string;
  readonly objects: Iterable<StoredObject>;
  readonly onProgress: (written: number) => void;
}

/** Puts objects into etcd through its JSON gateway, many to a transaction. */
export async function writeToEtcd(write: EtcdWrite): Promise<number> {
  const agent = new EtcdAgent(write.namespacePath);
  const batches = inBatches(write.objects, OBJECTS_PER_TRANSACTION);
  let written = 0;
  const worker = async (): Promise<void> => {
    for (const batch of batches) {
      await putAll(agent, batch);
      written += batch.length;
      write.onProgress(written);
    }
  };
  try {
    await Promise.all(Array.from({ length: TRANSACTIONS_AT_ONCE }, worker));
  } finally {
    agent.destroy();
  }
  return written;
}

/** Connections start in the lab's namespace; the host has no way to this etcd. */
class EtcdAgent extends http.Agent {
  readonly #namespacePath: string;

  constructor(namespacePath: string) {
    super({ keepAlive: true });
    this.#namespacePath = namespacePath;
  }

  override createConnection(): ReturnType<typeof dialTcp> {
    return dialTcp({ namespace: this.#namespacePath }, ETCD);
  }
}

async function putAll(agent: http.Agent, batch: readonly StoredObject[]): Promise<void> {
  const success = batch.map(({ key, value }) => ({
    requestPut: { key: base64(key), value: base64(JSON.stringify(value)) },
  }));
  const body = JSON.stringify({ success });
  await new Promise<void>((resolve, reject) => {
    const options = { ...ETCD, host: ETCD.address, path: '/v3/kv/txn', method: 'POST', agent };
    const request = http.request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (more: string) => {
        text += more;
      });
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(refusal(response.statusCode, text));
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

function refusal(status: number | undefined, text: string): LabError {
  return new LabError('LAB_API', `etcd refused a transaction: ${status} ${text.slice(0, 500)}`, {
    next: 'read etcd.log; its limits are set in control-plane/start.ts',
  });
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function* inBatches<T>(items: Iterable<T>, size: number): Generator<T[]> {
  let batch: T[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

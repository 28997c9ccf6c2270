import { askEtcd, base64, EtcdAgent } from '../control-plane/etcd-gateway.ts';
import type { StoredObject } from './objects.ts';

const OBJECTS_PER_TRANSACTION = 1_000;
const TRANSACTIONS_AT_ONCE = 4;

export interface EtcdWrite {
  readonly namespacePath: string;
  readonly objects: Iterable<StoredObject>;
  readonly onProgress: (written: number) => void;
  /**
   * All objects of a transaction have one revision. A watch that ends between two of them cannot be
   * resumed without loss: set 1, as the API server does, if a client watches meanwhile.
   */
  readonly objectsPerTransaction?: number;
}

/** Writes objects to etcd through its JSON gateway, many per transaction. */
export async function writeToEtcd(write: EtcdWrite): Promise<number> {
  const agent = new EtcdAgent(write.namespacePath);
  const batches = inBatches(write.objects, write.objectsPerTransaction ?? OBJECTS_PER_TRANSACTION);
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

async function putAll(agent: EtcdAgent, batch: readonly StoredObject[]): Promise<void> {
  const success = batch.map(({ key, value }) => ({
    requestPut: { key: base64(key), value: base64(JSON.stringify(value)) },
  }));
  await askEtcd(agent, '/v3/kv/txn', { success });
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

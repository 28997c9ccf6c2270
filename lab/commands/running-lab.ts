import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiClient } from '../api/client.ts';
import { API_PORT } from '../control-plane/credentials.ts';
import { LabError } from '../host/errors.ts';
import { labFolder } from '../host/folders.ts';
import { namespacePath } from '../host/namespaces.ts';
import { FABRIC } from '../network/plan.ts';
import type { PodNetwork } from '../network/topology.ts';

/** What a later command has to know of a lab, and cannot read from the machine. */
export interface LabRecord {
  readonly nodeCount: number;
  readonly podNetwork: PodNetwork;
  /** Name of one of lab/network/variants. */
  readonly network: string;
}

const RECORD_FILE = 'lab.json';

export async function writeLabRecord(folder: string, record: LabRecord): Promise<void> {
  await writeFile(join(folder, RECORD_FILE), `${JSON.stringify(record)}\n`);
}

export async function readLabRecord(lab: string): Promise<LabRecord> {
  const path = join(labFolder(lab), RECORD_FILE);
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new LabError('LAB_NOT_FOUND', `there is no lab '${lab}' with pods of its own`, {
      next: 'start one: npm run lab -- up; to scale pods of real nodes, use kubectl',
      cause,
    });
  });
  return JSON.parse(text) as LabRecord;
}

/** The API server of a lab that another process has started, as its administrator. */
export async function connectToLab(lab: string): Promise<ApiClient> {
  const folder = labFolder(lab);
  const tokens = await readFile(join(folder, 'tokens.csv'), 'utf8');
  return new ApiClient({
    namespacePath: namespacePath({ lab, role: 'fabric' }),
    address: FABRIC.ipv4,
    port: API_PORT,
    // The first of them is the administrator's.
    token: tokens.split(',', 1)[0] ?? '',
    certificateAuthority: await readFile(join(folder, 'apiserver.crt'), 'utf8'),
  });
}

import http from 'node:http';
import { LabError } from '../host/errors.ts';
import { dialTcp } from '../host/sockets.ts';

const ETCD = { address: '127.0.0.1', port: 2379 };

/** Connections start in the lab's namespace; the host has no way to this etcd. */
export class EtcdAgent extends http.Agent {
  readonly #namespacePath: string;

  constructor(namespacePath: string) {
    super({ keepAlive: true });
    this.#namespacePath = namespacePath;
  }

  override createConnection(): ReturnType<typeof dialTcp> {
    return dialTcp({ namespace: this.#namespacePath }, ETCD);
  }
}

/** One call of etcd's JSON gateway; gives the text of its answer. Keys and values are base64. */
export async function askEtcd(agent: EtcdAgent, path: string, body: object): Promise<string> {
  return await new Promise<string>((resolve, reject) => {
    const options = { ...ETCD, host: ETCD.address, path, method: 'POST', agent };
    const request = http.request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (more: string) => {
        text += more;
      });
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200) resolve(text);
        else reject(rejection({ path, status: response.statusCode, text }));
      });
    });
    request.on('error', reject);
    request.end(JSON.stringify(body));
  });
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function rejection(of: { path: string; status: number | undefined; text: string }): LabError {
  return new LabError(
    'LAB_API',
    `etcd rejected ${of.path}: ${of.status} ${of.text.slice(0, 500)}`,
    {
      next: 'read etcd.log; its limits are set in control-plane/etcd.ts',
    },
  );
}

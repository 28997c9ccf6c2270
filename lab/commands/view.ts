import { createServer } from 'node:net';
import { LabError } from '../host/errors.ts';
import { namespacePath } from '../host/namespaces.ts';
import { dialTcp } from '../host/sockets.ts';
import type { HostOfLab } from './enter.ts';
import { runFairlead } from './fairlead.ts';

const LOOPBACK = '127.0.0.1';

/**
 * `fairlead view` on a host of the lab, for a browser of this machine: the page listens on the
 * loopback of the host's namespace, and its port is forwarded from the loopback out here. Gives the
 * exit code of the command.
 */
export async function viewHost(host: HostOfLab, port: number): Promise<number> {
  const namespace = namespacePath(host);
  const server = createServer((browser) => {
    const page = dialTcp({ namespace }, { address: LOOPBACK, port });
    browser.pipe(page).pipe(browser);
    browser.on('error', () => page.destroy());
    page.on('error', () => browser.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new LabError('LAB_SOCKET', `port ${port} of this machine is taken`, {
          next: 'give another one: --port 8081',
          cause,
        }),
      ),
    );
    server.listen(port, LOOPBACK, resolve);
  });
  try {
    return await runFairlead(host, ['view', '--port', `${port}`]);
  } finally {
    server.close();
  }
}

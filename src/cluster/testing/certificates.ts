import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** A certificate and its key in PEM, and the means to sign others with it. */
export interface TestCertificate {
  readonly certificate: string;
  readonly key: string;
  readonly name: string;
  readonly privateKey: KeyObject;
}

export interface CertificateOptions {
  readonly name: string;
  /** DNS names and IPv4 addresses. */
  readonly hosts?: readonly string[];
  /** The issuer; self-signed when not given. */
  readonly issuer?: TestCertificate;
}

/** Makes certificates for tests by hand (X.509, RFC 5280): Node can read but not make them. */
export function makeCertificate({ name, hosts = [], issuer }: CertificateOptions): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const hour = 3_600_000;
  const extensions = [
    extension('2.5.29.19', sequence(issuer === undefined ? [node(0x01, Buffer.of(0xff))] : [])),
    ...(hosts.length === 0 ? [] : [extension('2.5.29.17', sequence(hosts.map(hostName)))]),
  ];
  const contents = sequence([
    node(0xa0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(1), randomBytes(8)])),
    SIGNATURE_ALGORITHM,
    distinguishedName(issuer?.name ?? name),
    sequence([time(Date.now() - hour), time(Date.now() + hour)]),
    distinguishedName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    node(0xa3, sequence(extensions)),
  ]);
  const signature = sign('sha256', contents, issuer?.privateKey ?? privateKey);
  const der = sequence([contents, SIGNATURE_ALGORITHM, bits(signature)]);
  const lines = der.toString('base64').replace(/.{1,64}/g, '$&\n');
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    name,
    privateKey,
  };
}

function node(tag: number, contents: Buffer): Buffer {
  const { length } = contents;
  const long = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...(length < 0x80 ? [length] : long)), contents]);
}

function sequence(parts: readonly Buffer[]): Buffer {
  return node(0x30, Buffer.concat(parts));
}

function integer(bytes: Buffer): Buffer {
  return node(0x02, bytes);
}

function bits(bytes: Buffer): Buffer {
  return node(0x03, Buffer.concat([Buffer.of(0), bytes]));
}

function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = rest.flatMap((part) => {
    const digits = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  });
  return node(0x06, Buffer.of(first * 40 + second, ...bytes));
}

/** ecdsa-with-SHA256 */
const SIGNATURE_ALGORITHM = sequence([objectId('1.2.840.10045.4.3.2')]);

function distinguishedName(name: string): Buffer {
  const attribute = sequence([objectId('2.5.4.3'), node(0x0c, Buffer.from(name))]);
  return sequence([node(0x31, attribute)]);
}

function time(ms: number): Buffer {
  const text = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '');
  return node(0x18, Buffer.from(text));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence([objectId(id), node(0x04, value)]);
}

function hostName(host: string): Buffer {
  if (isIPv4(host)) return node(0x87, Buffer.from(host.split('.').map(Number)));
  return node(0x82, Buffer.from(host));
}

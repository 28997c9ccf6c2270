/** The parts of a request head in use: any method is accepted, and bodies are ignored. */
export interface RequestHead {
  /** Without the query. */
  readonly path: string;
  /** HEAD: the response has no body. */
  readonly isHead: boolean;
  readonly keepsAlive: boolean;
  /** HTTP/1.0: the connection ends with the response unless the client asks otherwise. */
  readonly isOld: boolean;
  readonly hasBody: boolean;
  /** Length of the head in bytes. */
  readonly lengthBytes: number;
}

/** Result of parsing the bytes so far. */
export type HeadResult = RequestHead | 'incomplete' | 'malformed' | 'too large';

export const MAX_HEAD_BYTES = 8 * 1024;

const END_OF_HEAD = '\r\n\r\n';
const CRLF = '\r\n';
/** RFC 9112, 3: method, target and version, with one space between them. */
const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\S+) HTTP\/1\.([01])$/;
/** Spaces around the value are trimmed later: a pattern for them would backtrack. */
const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/;
/** RFC 9112, 3.2.2: the form for proxies, which every server has to accept. */
const ABSOLUTE_FORM = /^https?:\/\/[^/?]*/i;

/** Reads the first head in the bytes; RFC 9112, as much of it as a health check needs. */
export function readHead(bytes: Buffer): HeadResult {
  const start = startOfHead(bytes);
  const end = bytes.indexOf(END_OF_HEAD, start);
  if (end < 0) return bytes.length > MAX_HEAD_BYTES ? 'too large' : 'incomplete';
  if (end - start > MAX_HEAD_BYTES) return 'too large';
  const [requestLine = '', ...lines] = bytes.toString('latin1', start, end).split(CRLF);
  const [, method, target = '', minor] = REQUEST_LINE.exec(requestLine) ?? [];
  const headers = readHeaders(lines);
  if (method === undefined || headers === undefined) return 'malformed';
  return {
    path: pathOf(target),
    isHead: method === 'HEAD',
    keepsAlive: keepsAlive(headers.get('connection'), minor === '1'),
    isOld: minor === '0',
    hasBody: headers.has('transfer-encoding') || (headers.get('content-length') ?? '0') !== '0',
    lengthBytes: end + END_OF_HEAD.length,
  };
}

/** RFC 9112, 2.2: old clients send an empty line after a body, which is to be passed over. */
function startOfHead(bytes: Buffer): number {
  return bytes.length >= CRLF.length && bytes[0] === 0x0d && bytes[1] === 0x0a ? CRLF.length : 0;
}

function readHeaders(lines: readonly string[]): Map<string, string> | undefined {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value = ''] = HEADER_LINE.exec(line) ?? [];
    if (name === undefined) return undefined;
    headers.set(name.toLowerCase(), value.trim());
  }
  return headers;
}

function pathOf(target: string): string {
  const [path = ''] = target.replace(ABSOLUTE_FORM, '').split('?', 1);
  return path === '' ? '/' : path;
}

function keepsAlive(connection: string | undefined, isDefault: boolean): boolean {
  const options = (connection ?? '').toLowerCase().split(',');
  const named = new Set(options.map((option) => option.trim()));
  if (named.has('close')) return false;
  return isDefault || named.has('keep-alive');
}

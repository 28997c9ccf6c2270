/**
 * The port in Chromium's `DevToolsActivePort`: a line with the port, and one with a path. Undefined: the
 * file is not complete yet; it exists before it has a content.
 */
export function portIn(text: string): number | undefined {
  const [, port] = /^(\d+)\n\//.exec(text) ?? [];
  return port === undefined ? undefined : Number(port);
}

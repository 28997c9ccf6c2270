import type { Encoding } from './encoding.ts';
import { JSON_ENCODING } from './json-encoding.ts';
import { PROTOBUF_ENCODING } from './protobuf/protobuf-encoding.ts';

/**
 * The default: a list of 50,000 Services and their slices is 32 MB in protobuf and 138 MB in JSON.
 */
export const PREFERRED_MEDIA_TYPES = `${PROTOBUF_ENCODING.mediaType},${JSON_ENCODING.mediaType}`;

/** By Content-Type. Responses without one, such as from a gateway, are JSON. */
export function encodingOf(contentType: string): Encoding {
  const [mediaType = ''] = contentType.split(';');
  return mediaType.trim() === PROTOBUF_ENCODING.mediaType ? PROTOBUF_ENCODING : JSON_ENCODING;
}

/** A part of a path as it was before it was encoded; undefined: it is not valid. */
export function decodedPart(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** Bytes, a character each: buffers cannot be keys of a Map. */
export type Binary = string;

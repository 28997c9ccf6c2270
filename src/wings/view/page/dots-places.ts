/** The name of a namespace, at the pixel where its text begins. */
export interface DotsLabel {
  readonly namespace: string;
  readonly x: number;
  readonly y: number;
  /** Pixels that it may have. */
  readonly room: number;
}

export interface DotsLayout {
  readonly cell: number;
  readonly height: number;
  /** Pixels of the dot at each index. */
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** Indices from the first place to the last. */
  readonly order: Uint32Array;
  /** Of namespaces with room for a name. */
  readonly labels: readonly DotsLabel[];
}

export interface DotsRoom {
  readonly width: number;
  readonly height: number;
}

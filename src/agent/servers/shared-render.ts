/**
 * Renders once for all who ask in the same event loop iteration. Everybody gets a text that was begun
 * after they asked, and a crowd that asks at once costs what one does.
 */
export function sharedRender(render: () => Promise<string>): () => Promise<Buffer> {
  let coming: Promise<Buffer> | undefined;
  return async () => {
    coming ??= new Promise<void>((resolve) => setImmediate(resolve)).then(async () => {
      coming = undefined;
      return Buffer.from(await render());
    });
    return await coming;
  };
}

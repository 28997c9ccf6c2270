/**
 * Renders once for all requests of an event loop iteration. Every client gets a text that was
 * rendered after its request, and many concurrent requests cost as much as one.
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

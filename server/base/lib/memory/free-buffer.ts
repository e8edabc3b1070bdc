/**
 * Returns a buffer's memory at once, where the engine would wait for a collection: of what waits
 * for its caller meanwhile, only one of the whole heap returns it. The buffer is empty then.
 * Nothing else may read it or be about to send it. A part of a shared buffer stays as it is.
 */
export function freeBuffer({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

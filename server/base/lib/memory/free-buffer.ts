/**
 * Frees a buffer's memory at once. The engine would free it only at its next collection, or only at
 * one of the whole heap if the buffer has lived for a while. The buffer is empty afterwards:
 * nothing else may read it or be about to send it. A part of a shared buffer stays as it is.
 */
export function freeBuffer({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

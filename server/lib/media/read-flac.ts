/** Reads the length of a FLAC file from its first block. */
import type { Window } from './open-window.ts'

const STREAM_INFO_AT = 4
const RATE_AT = STREAM_INFO_AT + 4 + 10

export async function readFlac(window: Window): Promise<number | undefined> {
  const head = await window.at(0, RATE_AT + 8)
  const first = head[STREAM_INFO_AT]
  if (head.length < RATE_AT + 8 || first === undefined || (first & 0x7f) !== 0) return undefined
  // 20 bits of sample rate, 3 of channels, 5 of depth, 36 of the number of samples.
  const rate = head.readUInt32BE(RATE_AT) >>> 12
  const samples = (head.readUInt8(RATE_AT + 3) & 0xf) * 2 ** 32 + head.readUInt32BE(RATE_AT + 4)
  return rate > 0 && samples > 0 ? samples / rate : undefined
}

/** Reads an upstream's answer completely, up to a limit. */
import type { Readable } from 'node:stream'
import { type AnswerRoom, AnswerTooLarge, receiveWhole } from './receive-whole.ts'

/**
 * Resolves to the bytes, or to undefined for more than the room's limit. Rejects as `receiveWhole`.
 */
export async function readAtMost(body: Readable, room: AnswerRoom): Promise<Buffer | undefined> {
  try {
    return Buffer.concat(await receiveWhole(body, room))
  } catch (cause) {
    if (cause instanceof AnswerTooLarge) return undefined
    throw cause
  }
}

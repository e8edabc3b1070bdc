/** Boxes in the content of an MP4 box that is in memory. */
import { readBox } from '../../mp4-boxes.ts'
import { TOO_MANY_PARTS } from '../pieces.ts'
import { UnreadableSound } from '../unreadable-sound.ts'

export interface LoadedBox {
  readonly type: string
  readonly content: Buffer
}

const HEADER_BYTES = 16
const SHORT_HEADER_BYTES = 8
/** Boxes in front of one that is looked for; a file has some dozens side by side. */
const BOXES_MAX = 500

/** Lists the boxes; the last may be cut off. */
export function* listBoxes(content: Buffer): Generator<LoadedBox> {
  for (let at = 0; at + SHORT_HEADER_BYTES <= content.length; ) {
    const head = content.subarray(at, at + HEADER_BYTES)
    const box = readBox(head, at, content.length)
    if (!box) return
    yield { type: head.toString('latin1', 4, 8), content: content.subarray(box.start, box.end) }
    at = box.end
  }
}

/**
 * Returns the content of the first box of each type within one another; empty without one. Throws
 * UnreadableSound where it stands behind too many others.
 */
export function findBoxIn(content: Buffer, types: readonly string[]): Buffer {
  return types.reduce(findFirst, content)
}

function findFirst(content: Buffer, type: string): Buffer {
  let boxes = 0
  for (const box of listBoxes(content)) {
    if (box.type === type) return box.content
    boxes += 1
    if (boxes === BOXES_MAX) throw new UnreadableSound(TOO_MANY_PARTS)
  }
  return NOTHING
}

const NOTHING = Buffer.alloc(0)

/** Parses the elements of WebM and Matroska. */

export interface ElementHead {
  readonly id: number
  /** Bytes of the head. */
  readonly bytes: number
  /** Undefined: up to the next element of its level, as a live writer leaves it. */
  readonly size: number | undefined
}

export const ELEMENT_HEAD_BYTES = 12
const ID_BYTES_MAX = 4
const SIZE_BYTES_MAX = 8

/** Returns undefined where no element begins. */
export function readElementHead(head: Buffer, at = 0): ElementHead | undefined {
  const idBytes = countBytes(head[at])
  const size = readVariable(head, at + idBytes)
  if (idBytes > ID_BYTES_MAX || !size || at + idBytes > head.length) return undefined
  const { value, bytes } = size
  return { id: head.readUIntBE(at, idBytes), bytes: idBytes + bytes, size: value }
}

/** Reads a number that states its own length; its value is undefined if all its bits are set. */
export function readVariable(bytes: Buffer, at: number) {
  const count = countBytes(bytes[at])
  if (count > SIZE_BYTES_MAX || at + count > bytes.length) return undefined
  let value = (bytes[at] ?? 0) & (0xff >> count)
  let isOpen = value === 0xff >> count
  for (const byte of bytes.subarray(at + 1, at + count)) {
    value = value * 256 + byte
    isOpen &&= byte === 0xff
  }
  return { value: isOpen ? undefined : value, bytes: count }
}

/** Returns the length in bytes: one more than the leading zero bits, or more than 8 if invalid. */
function countBytes(first = 0): number {
  return Math.clz32(first) - 24 + 1
}

/** Returns the elements within the content of one, each with its own content. */
export function* listElements(content: Buffer): Generator<{ id: number; content: Buffer }> {
  for (let at = 0; at < content.length; ) {
    const head = readElementHead(content, at)
    if (!head) return
    const start = at + head.bytes
    const end = head.size === undefined ? content.length : start + head.size
    yield { id: head.id, content: content.subarray(start, end) }
    at = end
  }
}

/** Returns 0 for an element without content. */
export function readUnsigned(content: Buffer): number {
  return content.reduce((sum, byte) => sum * 256 + byte, 0)
}

export function readFloat(content: Buffer): number | undefined {
  if (content.length === 4) return content.readFloatBE()
  return content.length === 8 ? content.readDoubleBE() : undefined
}

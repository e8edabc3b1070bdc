/** Reads width and height of a picture from its first bytes. */
import { sniffType } from './sniff-type.ts'

export interface PictureSize {
  readonly width: number
  readonly height: number
}

/** JPEG segments that begin a frame, which states the size. */
const FRAMES: ReadonlySet<number> = new Set([
  0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf,
])

export function readPictureSize(head: Buffer): PictureSize | undefined {
  if (head.length < 32) return undefined
  switch (sniffType(head)) {
    case 'image/png':
      return size(head.readUInt32BE(16), head.readUInt32BE(20))
    case 'image/gif':
      return size(head.readUInt16LE(6), head.readUInt16LE(8))
    case 'image/webp':
      return readWebp(head, head.toString('latin1', 12, 16))
    case 'image/jpeg':
      return readJpeg(head)
    default:
      return undefined
  }
}

function readWebp(head: Buffer, chunk: string): PictureSize | undefined {
  if (chunk === 'VP8X') return size(head.readUIntLE(24, 3) + 1, head.readUIntLE(27, 3) + 1)
  if (chunk === 'VP8 ') return size(head.readUInt16LE(26) & 0x3fff, head.readUInt16LE(28) & 0x3fff)
  if (chunk !== 'VP8L') return undefined
  const bits = head.readUInt32LE(21)
  return size((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1)
}

function readJpeg(head: Buffer): PictureSize | undefined {
  let at = 2
  while (at + 9 <= head.length && head[at] === 0xff) {
    const marker = head[at + 1] ?? 0
    if (FRAMES.has(marker)) return size(head.readUInt16BE(at + 7), head.readUInt16BE(at + 5))
    at += 2 + head.readUInt16BE(at + 2)
  }
  return undefined
}

function size(width: number, height: number): PictureSize | undefined {
  return width > 0 && height > 0 ? { width, height } : undefined
}

// Writes H.264 without an encoder, for pictures of flat colours: a macroblock that its neighbours
// predict exactly takes a byte, any other is written as plain samples (I_PCM). Pictures between two
// intra pictures repeat the previous one. Lossless, baseline profile, any even size. Source of the
// syntax: ITU-T H.264, sections 7.3, 8.3.3, 8.3.4 and 9.2.
import { BitWriter } from './bits.ts'
import type { Colour, Picture } from './picture.ts'

const MACROBLOCK = 16
const I_PCM = 25

/** Planes padded to whole macroblocks; the parameter set crops the padding. */
interface Planes {
  columns: number
  rows: number
  planes: [Plane, Plane, Plane]
}

interface Plane {
  samples: Buffer
  /** 1 for each row of samples that is equal to the one above it. */
  repeated: Uint8Array
}

export function sequenceParameters(width: number, height: number): Buffer {
  const bits = new BitWriter()
  const [columns, rows] = [macroblocks(width), macroblocks(height)]
  bits.put(66, 8)
  bits.put(0b11000000, 8)
  bits.put(52, 8)
  bits.ue(0)
  bits.ue(0)
  // Pictures are displayed in decoding order.
  bits.ue(2)
  bits.ue(1)
  bits.put(0, 1)
  bits.ue(columns - 1)
  bits.ue(rows - 1)
  // Frames only, inferred motion over eight by eight samples.
  bits.put(0b11, 2)
  const cropRight = (columns * MACROBLOCK - width) / 2
  const cropBottom = (rows * MACROBLOCK - height) / 2
  bits.put(cropRight + cropBottom > 0 ? 1 : 0, 1)
  if (cropRight + cropBottom > 0) for (const crop of [0, cropRight, 0, cropBottom]) bits.ue(crop)
  bits.put(0, 1)
  bits.trail()
  return unit(0x67, bits)
}

export function pictureParameters(): Buffer {
  const bits = new BitWriter()
  bits.ue(0)
  bits.ue(0)
  // CAVLC, no bottom field order, one slice group, one reference each way, no weights.
  bits.put(0b00, 2)
  for (let count = 0; count < 3; count += 1) bits.ue(0)
  bits.put(0b000, 3)
  for (let offset = 0; offset < 3; offset += 1) bits.se(0)
  // The slices switch the deblocking filter off.
  bits.put(0b100, 3)
  bits.trail()
  return unit(0x68, bits)
}

/** Returns an intra picture. Neighbouring ones must differ in `number`. */
export function intraPicture(picture: Picture, number: number): Buffer {
  const bits = new BitWriter()
  bits.ue(0)
  bits.ue(7)
  bits.ue(0)
  bits.put(0, 4)
  bits.ue(number % 2)
  bits.put(0b00, 2)
  bits.se(0)
  bits.ue(1)
  macroblocksOf(bits, planesOf(picture))
  bits.trail()
  return unit(0x65, bits)
}

/** Returns a repetition of the previous picture. `frame` counts from the last intra picture. */
export function repeatedPicture(width: number, height: number, frame: number): Buffer {
  const bits = new BitWriter()
  bits.ue(0)
  bits.ue(5)
  bits.ue(0)
  bits.put(frame % 16, 4)
  // No override of references, no reordering, no adaptive marking.
  bits.put(0b000, 3)
  bits.se(0)
  bits.ue(1)
  bits.ue(macroblocks(width) * macroblocks(height))
  bits.trail()
  return unit(0x41, bits)
}

const macroblocks = (length: number): number => Math.ceil(length / MACROBLOCK)

function macroblocksOf(bits: BitWriter, planes: Planes): void {
  const plain = new Uint8Array(planes.columns * planes.rows)
  for (let row = 0; row < planes.rows; row += 1) {
    for (let column = 0; column < planes.columns; column += 1) {
      const luma = lumaMode(planes, column, row)
      const chroma = chromaMode(planes, column, row)
      const at = row * planes.columns + column
      if (luma === undefined || chroma === undefined) {
        plain[at] = 1
        putSamples(bits, planes, column, row)
        continue
      }
      bits.ue(1 + luma)
      bits.ue(chroma)
      bits.se(0)
      putNoCoefficients(bits, [
        column > 0 ? plain[at - 1] : undefined,
        row > 0 ? plain[at - planes.columns] : undefined,
      ])
    }
  }
}

/** The code for "no coefficients" is longer next to plain samples, which count as sixteen. */
function putNoCoefficients(bits: BitWriter, neighbours: (number | undefined)[]): void {
  if (neighbours.includes(1)) bits.put(0b000011, 6)
  else bits.put(1, 1)
}

/** 0: predicted from the row above, 1: from the column to the left; undefined: neither is exact. */
function lumaMode({ columns, planes }: Planes, column: number, row: number): 0 | 1 | undefined {
  const block = { stride: columns * MACROBLOCK, size: MACROBLOCK, column, row }
  if (row > 0 && repeatsAbove(planes[0], block)) return 0
  if (column > 0 && repeatsLeft(planes[0], block)) return 1
  return undefined
}

interface Block {
  stride: number
  size: number
  column: number
  row: number
}

function repeatsAbove({ samples, repeated }: Plane, { stride, size, column, row }: Block): boolean {
  const left = column * size
  const above = (row * size - 1) * stride + left
  for (let y = row * size; y < (row + 1) * size; y += 1) {
    // Most rows of flat colours: the one above has been compared.
    if (repeated[y] === 1) continue
    const start = y * stride + left
    for (let x = 0; x < size; x += 1) if (samples[start + x] !== samples[above + x]) return false
  }
  return true
}

function repeatsLeft({ samples }: Plane, { stride, size, column, row }: Block): boolean {
  const origin = row * size * stride + column * size
  for (let y = 0; y < size; y += 1) {
    const left = samples[origin + y * stride - 1]
    for (let x = 0; x < size; x += 1) if (samples[origin + y * stride + x] !== left) return false
  }
  return true
}

/** Like luma, but both colour planes must agree, and the modes are numbered differently. */
function chromaMode({ columns, planes }: Planes, column: number, row: number): 1 | 2 | undefined {
  const block = { stride: columns * 8, size: 8, column, row }
  const colours = [planes[1], planes[2]]
  if (row > 0 && colours.every((plane) => repeatsAbove(plane, block))) return 2
  if (column > 0 && colours.every((plane) => repeatsLeft(plane, block))) return 1
  return undefined
}

function putSamples(bits: BitWriter, { columns, planes }: Planes, column: number, row: number) {
  bits.ue(I_PCM)
  bits.alignZero()
  for (const [index, { samples }] of planes.entries()) {
    const size = index === 0 ? 16 : 8
    const stride = columns * size
    const origin = row * size * stride + column * size
    for (let y = 0; y < size; y += 1) {
      for (let x = 0; x < size; x += 1) bits.put(samples[origin + y * stride + x] ?? 0, 8)
    }
  }
}

/** Converts colours by BT.601 in limited range; edges are repeated to whole macroblocks. */
function planesOf(picture: Picture): Planes {
  const { width, height, palette, pixels } = picture
  const [columns, rows] = [macroblocks(width), macroblocks(height)]
  const colours = palette.map(componentsOf)
  const rowAt = (y: number): Uint8Array => {
    const start = Math.min(y, height - 1) * width
    return pixels.subarray(start, start + width)
  }
  const plane = (component: 0 | 1 | 2, step: number): Plane => {
    const [across, down] = [(columns * MACROBLOCK) / step, (rows * MACROBLOCK) / step]
    const values = Uint8Array.from(colours, (colour) => colour[component])
    const samples = Buffer.alloc(across * down)
    const repeated = new Uint8Array(down)
    for (let y = 0; y < down; y += 1) {
      const row = rowAt(y * step)
      const start = y * across
      if (y > 0 && Buffer.compare(row, rowAt((y - 1) * step)) === 0) {
        samples.copyWithin(start, start - across, start)
        repeated[y] = 1
        continue
      }
      for (let x = 0; x < across; x += 1) {
        samples[start + x] = values[row[Math.min(x * step, width - 1)] ?? 0] ?? 0
      }
    }
    return { samples, repeated }
  }
  return { columns, rows, planes: [plane(0, 1), plane(1, 2), plane(2, 2)] }
}

function componentsOf({ red, green, blue }: Colour): [number, number, number] {
  const luma = 16 + (65.481 * red + 128.553 * green + 24.966 * blue) / 255
  const first = 128 + (-37.797 * red - 74.203 * green + 112 * blue) / 255
  const second = 128 + (112 * red - 93.786 * green - 18.214 * blue) / 255
  // A plain sample of 0 is not allowed; limited range never reaches it.
  return [Math.round(luma), Math.round(first), Math.round(second)]
}

/**
 * Returns a NAL unit: its header, and a 3 inserted into bytes that would look like a start code.
 */
function unit(header: number, bits: BitWriter): Buffer {
  const raw = bits.take()
  const out: number[] = [header]
  let zeros = 0
  for (const byte of raw) {
    if (zeros >= 2 && byte <= 3) {
      out.push(3)
      zeros = 0
    }
    out.push(byte)
    zeros = byte === 0 ? zeros + 1 : 0
  }
  return Buffer.from(out)
}

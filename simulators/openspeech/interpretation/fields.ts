// Encodes and decodes Protocol Buffers without a library: varints, bytes and 32-bit floats.

/** The values of a field: numbers, or bytes that may be text or a nested message. */
export type Fields = Map<number, (number | Buffer)[]>

/** Throws if the bytes are not a message. Unknown fields are kept and ignored. */
export function readFields(bytes: Buffer): Fields {
  const fields: Fields = new Map()
  let at = 0
  const varint = (): number => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at]
      if (byte === undefined || shift > 63n) throw new Error('a varint is cut short')
      at += 1
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return Number(BigInt.asIntN(64, value))
    }
  }
  const take = (length: number): Buffer => {
    if (length < 0 || at + length > bytes.length) throw new Error('a field is cut short')
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    const tag = varint()
    const value = readValue(tag & 7, varint, take)
    const number = Math.floor(tag / 8)
    if (number === 0) throw new Error('there is no field 0')
    fields.set(number, [...(fields.get(number) ?? []), value])
  }
  return fields
}

function readValue(
  wireType: number,
  varint: () => number,
  take: (length: number) => Buffer,
): number | Buffer {
  if (wireType === 0) return varint()
  if (wireType === 1) return take(8)
  if (wireType === 2) return take(varint())
  if (wireType === 5) return take(4).readFloatLE()
  throw new Error(`wire type ${wireType} does not exist`)
}

export function numberOf(fields: Fields, field: number): number {
  const value = fields.get(field)?.at(-1)
  return typeof value === 'number' ? value : 0
}

export function bytesOf(fields: Fields, field: number): Buffer {
  const value = fields.get(field)?.at(-1)
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0)
}

export const textOf = (fields: Fields, field: number): string => bytesOf(fields, field).toString()

export const messageOf = (fields: Fields, field: number): Fields =>
  readFields(bytesOf(fields, field))

/** Returns a field of varints; as in proto3, a zero is omitted. */
export function whole(field: number, value: number): Buffer {
  return value === 0 ? Buffer.alloc(0) : Buffer.concat([varint(field * 8), varint(value)])
}

export function chars(field: number, value: string | Buffer): Buffer {
  const bytes = Buffer.from(value)
  return bytes.length === 0 ? bytes : message(field, bytes)
}

/** Returns a nested message, which is written even if it is empty. */
export function message(field: number, ...parts: Buffer[]): Buffer {
  const bytes = Buffer.concat(parts)
  return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes])
}

export function float(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return Buffer.concat([varint(field * 8 + 5), bytes])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(Math.trunc(value)))
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  }
  return Buffer.from([...bytes, Number(rest)])
}

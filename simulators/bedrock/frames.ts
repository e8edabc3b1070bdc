// AWS's event stream: a frame is lengths, their checksum, headers, a payload and a checksum.
import { crc32 } from 'node:zlib'
import type { Frame } from '../kernel/exchange.ts'

const STRING = 7

function header(name: string, value: string): Buffer {
  const label = Buffer.from(name)
  const content = Buffer.from(value)
  const sizes = Buffer.alloc(2)
  sizes.writeUInt16BE(content.length)
  return Buffer.concat([Buffer.from([label.length]), label, Buffer.from([STRING]), sizes, content])
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(bytes))
  return sum
}

export function frameOf(headers: [string, string][], payload: Buffer): Buffer {
  const packed = Buffer.concat(headers.map(([name, value]) => header(name, value)))
  const lengths = Buffer.alloc(8)
  lengths.writeUInt32BE(packed.length + payload.length + 16)
  lengths.writeUInt32BE(packed.length, 4)
  const start = Buffer.concat([lengths, checksum(lengths), packed, payload])
  return Buffer.concat([start, checksum(start)])
}

const JSON_TYPE: [string, string] = [':content-type', 'application/json']

/** An event of the model in base64, beside random padding that hides its length. */
export function chunkFrame(data: string, padding: string): Buffer {
  const payload = { bytes: Buffer.from(data).toString('base64'), p: padding }
  const headers: [string, string][] = [
    [':event-type', 'chunk'],
    JSON_TYPE,
    [':message-type', 'event'],
  ]
  return frameOf(headers, Buffer.from(JSON.stringify(payload)))
}

export function exceptionFrame(name: string, message: string): Frame {
  const headers: [string, string][] = [
    [':exception-type', name],
    JSON_TYPE,
    [':message-type', 'exception'],
  ]
  return { data: frameOf(headers, Buffer.from(JSON.stringify({ message }))) }
}

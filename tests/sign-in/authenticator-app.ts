/** An authenticator app, written from RFC 6238 and not from the code under test. */
import { createHmac } from 'node:crypto'

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Returns the step of a time in Unix milliseconds. */
export function stepOf(timeMs: number): number {
  return Math.floor(timeMs / 1000 / 30)
}

/** Returns the code of one step: 6 digits, except in the RFC's test vectors. */
export function totpCode(secret: string, step: number, digits = 6): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', decodeBase32(secret)).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 0xf
  const number = (mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** digits
  return String(number).padStart(digits, '0')
}

function decodeBase32(text: string): Buffer {
  const bits = [...text].map((digit) => BASE32.indexOf(digit).toString(2).padStart(5, '0'))
  const bytes = bits.join('').match(/.{8}/g) ?? []
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)))
}

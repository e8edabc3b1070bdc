/** Tokens of sessions, links and steps: 256 random bits as text, stored only as SHA-256. */
import { hash } from 'node:crypto'
import { randomText } from '../../../base/lib/ids.ts'

const LENGTH = 43
const SHAPE = /^[0-9A-Za-z]{43}$/

export function createToken(): { readonly token: string; readonly tokenHash: Buffer } {
  const token = randomText(LENGTH)
  return { token, tokenHash: hash('sha256', token, 'buffer') }
}

/** Returns the stored form; undefined for text that cannot be a token. */
export function hashToken(token: string | undefined): Buffer | undefined {
  return token !== undefined && SHAPE.test(token) ? hash('sha256', token, 'buffer') : undefined
}

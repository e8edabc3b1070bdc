/**
 * Parses a token before its signature is checked: its form, its size and its header. Nothing that
 * is read here is trusted; it only determines which key the signature is checked with.
 */
import { GatewayError } from '../../../base/lib/errors.ts'
import { isObject } from '../../../base/lib/json.ts'

/** Headers are limited to 16 KB in all. */
const LENGTH_MAX = 12_288
const SHAPE = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/

export interface TokenHeader {
  readonly alg: string
  readonly kid: string | undefined
}

export interface ReadToken {
  readonly header: TokenHeader
  readonly claims: Readonly<Record<string, unknown>>
}

/** Returns true for a text that looks like a signed token: three parts separated by dots. */
export function isToken(text: string): boolean {
  return SHAPE.test(text)
}

/** Throws 401 unless both parts are objects without duplicate names. */
export function takeApart(token: string): ReadToken {
  if (token.length > LENGTH_MAX) throw refuseToken(`is longer than ${LENGTH_MAX} characters`)
  const [first = '', second = ''] = token.split('.')
  const { alg, kid } = readPart(first, 'header')
  if (typeof alg !== 'string') throw refuseToken('names no algorithm')
  if (kid !== undefined && typeof kid !== 'string')
    throw refuseToken('has a "kid" that is not a string')
  return { header: { alg, kid }, claims: readPart(second, 'payload') }
}

/** Returns a 401 whose text says what is wrong with the token. */
export function refuseToken(problem: string): GatewayError {
  return new GatewayError('unauthenticated', { message: `invalid token: it ${problem}` })
}

function readPart(part: string, name: string): Readonly<Record<string, unknown>> {
  const text = Buffer.from(part, 'base64url').toString()
  const value = parse(text)
  if (!isObject(value)) throw refuseToken(`has a ${name} that is not a JSON object`)
  // Parsers differ in which of two members with the same name they use.
  if (countNames(text) !== countMembers(value))
    throw refuseToken(`has a ${name} that names a member twice`)
  return value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Counts the strings of a JSON text that are followed by a colon. */
function countNames(text: string): number {
  let names = 0
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    at += 1
    while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
    at += 1
    while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at += 1
    if (text[at] === ':') names += 1
  }
  return names
}

function countMembers(top: unknown): number {
  let count = 0
  const open = [top]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value !== 'object' || value === null) continue
    if (!Array.isArray(value)) count += Object.keys(value).length
    for (const one of Object.values(value)) open.push(one)
  }
  return count
}

/** A channel's settings at the vendor, and the key of one request. */
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import type { KeyedChannel } from '../send-with-key.ts'
import { hostUrl } from '../shared-settings.ts'
import type { Wire } from '../wire.ts'

export const klingSettings = z
  .strictObject({
    /** The host of the key's region, without a path. */
    base_url: hostUrl().default('https://api-singapore.klingai.com'),
    api_key: z.string().min(1).optional(),
    /** The older pair, which serves models up to 3.0 on the older paths. */
    access_key: z.string().min(1).optional(),
    secret_key: z.string().min(1).optional(),
  })
  .refine(({ api_key: key, access_key: id, secret_key: secret }) => key || (id && secret), {
    error: 'needs api_key, or access_key and secret_key',
    path: ['api_key'],
  })

export type KlingSettings = z.infer<typeof klingSettings>

const LIFE_SECONDS = 1800
const EARLY_SECONDS = 5

/** Returns the channel with its key, or with a token signed for this request. */
export function keyOf(settings: KlingSettings, wire: Pick<Wire, 'now'>): KeyedChannel {
  const { base_url, api_key: key, access_key: id = '', secret_key: secret = '' } = settings
  return { base_url, api_key: key ?? signToken(id, secret, Math.floor(wire.now() / 1000)) }
}

/** Signs a token without an `iat` claim, which the vendor refuses. */
export function signToken(id: string, secret: string, nowSeconds: number): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const payload = { iss: id, exp: nowSeconds + LIFE_SECONDS, nbf: nowSeconds - EARLY_SECONDS }
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(payload)}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

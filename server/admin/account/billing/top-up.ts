/**
 * Payments that a provider reports. Nothing but the signature proves them, so it is checked over
 * the very bytes that came, before anything is read out of them.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { expectJson, readBody } from '../../../http/body.ts'
import { checkShape, refuseUnstorable } from '../../../http/check-shape.ts'
import type { Context } from '../../../http/context.ts'
import { GatewayError, invalidField } from '../../../lib/errors.ts'
import { tryParseJson } from '../../../lib/json.ts'
import { type Nanos, parseAmount } from '../../../lib/money.ts'
import { decimal, text } from '../../common-schemas.ts'

const BODY_BYTES_MAX = 64 * 1024
/** A signature is good for this long in both directions. */
const SKEW_SECONDS_MAX = 300
const SIGNATURE = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/

const payment = z.object({
  event_id: text(200).min(1),
  account_id: text(100).min(1),
  amount: decimal,
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be three capital letters'),
  reason: text(300).default(''),
})

export interface Payment {
  readonly eventId: string
  readonly accountId: string
  readonly amountNanos: Nanos
  readonly currency: string
  readonly reason: string
}

/** Throws 401 for a signature that is missing, wrong or old, 400 for a body that is no payment. */
export async function readPayment(context: Context, secret: string): Promise<Payment> {
  expectJson(context.request)
  const body = await readBody(context.request, BODY_BYTES_MAX)
  if (!isSigned(context.request.headers['x-signature'], body, secret)) {
    throw new GatewayError('unauthenticated', { message: 'the signature is missing or wrong' })
  }
  const given = tryParseJson(body)
  refuseUnstorable(given, 'body')
  const read = checkShape(payment, given)
  const { event_id: eventId, account_id: accountId, amount, currency, reason } = read
  const amountNanos = parseAmount(amount) ?? 0n
  if (amountNanos <= 0n) throw invalidField('amount', 'must be more than nothing')
  return { eventId, accountId, amountNanos, currency, reason: reason || `payment ${eventId}` }
}

function isSigned(header: string | string[] | undefined, body: Buffer, secret: string): boolean {
  const [, seconds = '', given = ''] = SIGNATURE.exec(String(header)) ?? []
  if (given === '') return false
  if (Math.abs(Date.now() / 1000 - Number(seconds)) > SKEW_SECONDS_MAX) return false
  const own = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest()
  return timingSafeEqual(own, Buffer.from(given, 'hex'))
}

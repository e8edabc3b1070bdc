/**
 * Payments that a payment provider reports. Only the signature authenticates them, so it is
 * verified over the raw bytes before the body is parsed.
 */

import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { expectJson, readBody } from '../../../../base/http/body.ts'
import { checkShape, refuseUnstorable } from '../../../../base/http/check-shape.ts'
import type { Context } from '../../../../base/http/context.ts'
import { CURRENCY_PROBLEM } from '../../../../base/lib/currencies.ts'
import { GatewayError, invalidField } from '../../../../base/lib/errors.ts'
import type { Nanos } from '../../../../base/lib/money.ts'
import { parseObject } from '../../../../work/pipeline/request/read-request.ts'
import { decimal, text } from '../../common-schemas.ts'

const BODY_BYTES_MAX = 64 * 1024
/** The largest difference between the signature's time and the clock, in either direction. */
const SKEW_SECONDS_MAX = 300
const SIGNATURE = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/

const payment = z.object({
  event_id: text(200).min(1),
  account_id: text(100).min(1),
  amount: decimal,
  currency: z.string().regex(/^[A-Z]{3}$/, CURRENCY_PROBLEM),
  reason: text(300).default(''),
})

export interface Payment {
  readonly eventId: string
  readonly accountId: string
  readonly amountNanos: Nanos
  readonly currency: string
  readonly reason: string
}

/** Throws 401 for a missing, wrong or outdated signature, 400 for an invalid body. */
export async function readPayment(context: Context, secret: string): Promise<Payment> {
  expectJson(context.request)
  const body = await readBody(context, BODY_BYTES_MAX)
  if (!isSigned(context.request.headers['x-signature'], body, secret)) {
    throw new GatewayError('unauthenticated', { message: 'the signature is missing or wrong' })
  }
  // If a name appears twice, the signer and this reader might use different values.
  const document = parseObject(body).value
  refuseUnstorable(document, 'body')
  const read = checkShape(payment, document)
  const { event_id: eventId, account_id: accountId, amount: amountNanos, currency, reason } = read
  if (amountNanos <= 0n) throw invalidField('amount', 'must be more than zero')
  return { eventId, accountId, amountNanos, currency, reason: reason || `payment ${eventId}` }
}

function isSigned(header: string | string[] | undefined, body: Buffer, secret: string): boolean {
  const [, seconds = '', signature = ''] = SIGNATURE.exec(String(header)) ?? []
  if (signature === '') return false
  if (Math.abs(Date.now() / 1000 - Number(seconds)) > SKEW_SECONDS_MAX) return false
  const own = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest()
  return timingSafeEqual(own, Buffer.from(signature, 'hex'))
}

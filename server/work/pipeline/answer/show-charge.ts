/**
 * Shows the charge in the answer: in a header of every whole answer, and as `usage.cost` where the
 * caller asks for it. It is the amount of the committed record; if that is not known in time, the
 * answer has none.
 */

import { formatAmount } from '../../../base/lib/money.ts'
import { type CostFigure, stateCost } from '../../../wire/dialects/usage/state-cost.ts'
import { UsageTail } from '../../../wire/dialects/usage/usage-tail.ts'
import type { Metering } from '../metering.ts'
import type { Charged } from '../price/charge.ts'
import type { ResolvedCall } from '../request/resolve.ts'

/** Bases of charges that are not stated quantities. */
const ESTIMATED: ReadonlySet<string> = new Set(['estimate', 'partial', 'checkpoint'])

/** Returns the headers of a whole answer; none if the charge is not known. */
export function chargeHeaders(charged: Charged | undefined): Readonly<Record<string, string>> {
  if (!charged) return {}
  const basis = doubtOf(charged)
  return {
    'x-tributary-charge': `${formatAmount(charged.nanos)} ${charged.currency}`,
    ...(basis === undefined ? {} : { 'x-tributary-charge-basis': basis }),
  }
}

/** Returns the word for a charge that an operator reviews, or that is estimated. */
function doubtOf({ basis, review }: Charged): string | undefined {
  if (review) return 'review'
  return ESTIMATED.has(basis) ? basis : undefined
}

function figureOf(charged: Charged | undefined): CostFigure | undefined {
  return charged && { cost: formatAmount(charged.nanos), basis: doubtOf(charged) }
}

type Asked = { readonly call: Pick<ResolvedCall, 'showsCost'> }

/** Returns the body of a whole answer as its caller gets it. */
export function showInBody({ call }: Asked, body: Buffer, charged: Charged | undefined): Buffer {
  return call.showsCost ? stateCost(body, figureOf(charged)) : body
}

/** Withholds the end of a stream until its charge is known. */
export interface StreamTail {
  push(bytes: Buffer): Buffer
  /** Returns the rest of the stream. */
  end(charged: Charged | undefined): Buffer
  heldBytes(): number
}

/** Returns undefined for a stream that shows no charge: its bytes pass unchanged. */
export function createTail({
  call,
  metering,
}: Asked & { readonly metering: Pick<Metering, 'usagePlace'> }): StreamTail | undefined {
  if (!call.showsCost || !metering.usagePlace) return undefined
  const tail = new UsageTail(metering.usagePlace)
  return {
    push: (bytes) => tail.push(bytes),
    end: (charged) => tail.end(figureOf(charged)),
    heldBytes: () => tail.heldBytes(),
  }
}

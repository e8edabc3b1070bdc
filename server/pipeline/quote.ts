/** Verb 4: what can it cost at most? */
import { priceUpperBound } from '../catalog/price.ts'
import type { Nanos } from '../lib/money.ts'
import type { Quantities } from '../lib/units.ts'
import { countOnce } from './charge.ts'
import type { Metering } from './metering.ts'
import type { ResolvedCall } from './resolve.ts'

export interface Quote {
  readonly amountNanos: Nanos
  readonly quantities: Quantities
}

export function quote(metering: Metering, call: ResolvedCall): Quote {
  const { request, model } = call
  const asked = metering.quote({
    value: request.value,
    body: request.body,
    fileBytes: request.file?.bytes ?? 0,
    fileSeconds: request.file?.seconds ?? 0,
    inputTokens: request.inputTokensEstimate,
    model,
  })
  const quantities = { ...countOnce(model.prices), ...asked }
  if (model.free) return { amountNanos: 0n, quantities }
  const facts = metering.facts?.(request.value) ?? {}
  return { amountNanos: priceUpperBound(model.prices, quantities, facts), quantities }
}

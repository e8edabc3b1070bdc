/** Verb 4: what can it cost at most? */
import type { Facts } from '../catalog/catalog.ts'
import { priceUpperBound } from '../catalog/price.ts'
import type { Nanos } from '../lib/money.ts'
import type { Quantities } from '../lib/units.ts'
import { countOnce } from './charge.ts'
import type { Metering } from './metering.ts'
import type { ResolvedCall } from './resolve.ts'

export interface Quote {
  readonly amountNanos: Nanos
  readonly quantities: Quantities
  /** What conditions of prices could ask for. */
  readonly facts: Facts
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
  const facts = metering.facts?.(request.value) ?? {}
  const amountNanos = model.free ? 0n : priceUpperBound(model.prices, quantities, [facts], [facts])
  return { amountNanos, quantities, facts }
}

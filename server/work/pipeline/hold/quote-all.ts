/** Quotes a call at each model that may serve it. */
import { GatewayError } from '../../../base/lib/errors.ts'
import type { Metering } from '../metering.ts'
import type { FallbackTarget, ResolvedCall } from '../request/resolve.ts'
import type { Services } from '../services.ts'
import { type QuotedCall, quote } from './quote.ts'

/** A call as another model would serve it. */
export interface FallbackCall extends QuotedCall {
  /** True if the caller lists the model: any refusal leads to it. */
  readonly isListed: boolean
}

export interface Quotes extends QuotedCall {
  readonly fallbacks: readonly FallbackCall[]
  /** The quote that the hold is taken for, with the call as its model would serve it. */
  readonly mostExpensive: QuotedCall
}

/** Throws a 400 that names a requested option without a price at the model or at a listed one. */
export function quoteAll(
  metering: Metering,
  call: ResolvedCall,
  services: Pick<Services, 'upstreams'>,
): Quotes {
  const first = quote(metering, call, services)
  const fallbacks = (call.fallbacks ?? []).flatMap((target): FallbackCall[] => {
    const other = serveBy(call, target)
    const found = quoteFallback(metering, other, target, services)
    return found ? [{ ...found, isListed: target.field !== undefined }] : []
  })
  const mostExpensive = fallbacks.reduce<QuotedCall>(
    (most, one) => (one.quoted.amountNanos > most.quoted.amountNanos ? one : most),
    first,
  )
  return { ...first, fallbacks, mostExpensive }
}

function serveBy(call: ResolvedCall, { model, routes }: FallbackTarget): ResolvedCall {
  return { ...call, model, routes, request: { ...call.request, model: model.id } }
}

/** Returns undefined for a model of the operator that cannot price the request. */
function quoteFallback(
  metering: Metering,
  call: ResolvedCall,
  { field }: FallbackTarget,
  services: Pick<Services, 'upstreams'>,
): QuotedCall | undefined {
  try {
    return quote(metering, call, services)
  } catch (error) {
    if (field === undefined && error instanceof GatewayError) return undefined
    throw error
  }
}

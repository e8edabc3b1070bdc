/** Settings that channels of several upstreams have. */
import { z } from 'zod'
import { hasCredentials } from '../../base/lib/text/base-url.ts'

/** An address of the vendor. It is shown and logged, so it may hold no credentials. */
export const baseUrl = (protocol = /^https?$/) =>
  z.url({ protocol }).refine((url) => !hasCredentials(url), {
    error: 'must not hold credentials: these settings are shown. Put them into the channel’s key',
  })

const ENDS_IN_VERSION = /\/v\d+(?:(?:alpha|beta)\d*)?\/*$/

/** Returns what is wrong with an address to which the upstream itself adds the version path. */
export function refuseVersionPath(url: string | undefined): string | undefined {
  const version = ENDS_IN_VERSION.exec(URL.parse(url ?? '')?.pathname ?? '')?.[0]
  return version && `must not end in ${version}: the gateway adds the version path`
}

/** An address of the vendor without its version path. */
export const hostUrl = () =>
  baseUrl().superRefine((url, context) => {
    const message = refuseVersionPath(url)
    if (message) context.addIssue({ code: 'custom', message })
  })

/** The way in which a channel's calls are served, in the terms of price conditions. */
export const priceSettings = {
  /** The region of the channel's host or workspace, for example `us`. Absent: any. */
  region: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,39}$/)
    .optional(),
  /** The tier for requests that name none, where the vendor's project sets one. */
  default_service_tier: z
    .enum(['standard', 'flex', 'batch', 'fast', 'ultrafast', 'prepaid'])
    .optional(),
}

interface PriceSettings {
  readonly region?: string | undefined
  readonly default_service_tier?: string | undefined
}

export function readPriceFacts(settings: PriceSettings): Readonly<Record<string, string>> {
  const { region, default_service_tier: tier } = settings
  return { ...(region ? { region } : {}), ...(tier ? { service_tier: tier } : {}) }
}

/** The content that callers may name of what the vendor's account stores. */
export const storedSettings = {
  /**
   * `own`: callers name only what this gateway gave to their account. `any`: whatever the vendor's
   * account has, for an operator whose callers may all read it.
   */
  stored_ids: z.enum(['own', 'any']).default('own'),
}

export function sharesStored({ stored_ids: ids }: { readonly stored_ids: 'own' | 'any' }): boolean {
  return ids === 'any'
}

/** Settings for how a channel's calls are served, in the terms of price conditions. */
import { z } from 'zod'

/** Members for the schema of a channel's settings. */
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

/** Settings of a channel that say how its calls are served, in the words of price conditions. */
import { z } from 'zod'

/** To be spread into the shape of a channel's settings. */
export const priceSettings = {
  /** Where the channel's host or workspace serves, for example `us`. Absent: anywhere. */
  region: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,39}$/)
    .optional(),
  /** The tier that serves requests which name none, where the vendor's project sets one. */
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

/** Maps service tiers to the terms of price conditions, as requested and as served. */
import type { JsonObject } from '../../../base/lib/json.ts'

const NEUTRAL: ReadonlyMap<string, string> = new Map([
  ['default', 'standard'],
  ['on_demand', 'standard'],
  ['standard', 'standard'],
  ['standard_only', 'standard'],
  ['priority', 'fast'],
  ['performance', 'fast'],
  ['fast', 'fast'],
  ['scale', 'prepaid'],
  ['provisioned', 'prepaid'],
  ['reserved', 'prepaid'],
  ['prepaid', 'prepaid'],
  ['flex', 'flex'],
  ['batch', 'batch'],
  ['ultrafast', 'ultrafast'],
])

/**
 * Returns the neutral word of a vendor's tier. A tier without one stays the vendor's own text in
 * lower case, and so has no price.
 */
export function toNeutralTier(tier: string): string {
  const lowerCase = tier.toLowerCase()
  return NEUTRAL.get(lowerCase) ?? lowerCase
}

/** Returns true if prices can name a tier; false for the vendor's own names. */
export function isNeutralTier(tier: string): boolean {
  return NEUTRAL.get(tier) === tier
}

/**
 * Reads the serving tier of an answer: a string, or null. Returns undefined for any other value and
 * for `auto`, which echoes the request until the last event.
 */
export function readServedTier(value: unknown): string | undefined {
  if (value === null) return 'standard'
  if (typeof value !== 'string' || value === '' || value === 'auto') return undefined
  return toNeutralTier(value)
}

/** The neutral word as chat completions and responses spell it. */
const CHAT_NAMES: ReadonlyMap<string, string> = new Map([
  ['standard', 'default'],
  ['fast', 'priority'],
  ['prepaid', 'scale'],
])

export function toChatTier(tier: string): string {
  return CHAT_NAMES.get(tier) ?? tier
}

/** The neutral word as messages spell it. */
export function toMessagesTier(tier: string): string {
  return tier === 'fast' || tier === 'prepaid' ? 'priority' : tier
}

/** Tiers that leave the choice to the channel's account. */
const OPEN_TIERS: ReadonlySet<string> = new Set([
  '',
  'auto',
  'default',
  'standard',
  'standard_only',
])

/**
 * Returns the member of the chat request that requests the tier of the original request: the name
 * that is priced, without surrounding spaces.
 */
export function passTier({ service_tier: tier }: JsonObject): JsonObject {
  if (typeof tier !== 'string') return {}
  const word = tier.trim()
  return OPEN_TIERS.has(word.toLowerCase()) ? {} : { service_tier: word }
}

/**
 * Like `passTier`, but only for tiers that prices can name: no other value of the caller passes.
 */
export function passKnownTier(request: JsonObject): JsonObject {
  const { service_tier: tier } = request
  return typeof tier === 'string' && isNeutralTier(toNeutralTier(tier.trim()))
    ? passTier(request)
    : {}
}

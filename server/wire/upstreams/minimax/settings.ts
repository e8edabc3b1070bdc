/** A channel's settings at the vendor. */
import { z } from 'zod'
import { baseUrl, storedSettings } from '../shared-settings.ts'

export const minimaxSettings = z.strictObject({
  /** The address without a version path; the adapter appends it. */
  base_url: baseUrl().default('https://api.minimax.io'),
  api_key: z.string().min(1),
  /** True to let the vendor notify a callback URL of the gateway, in addition to polling. */
  callbacks: z.boolean().default(true),
  ...storedSettings,
})

export type MinimaxSettings = z.infer<typeof minimaxSettings>

/** A channel's settings at the vendor's model platform. */
import { z } from 'zod'
import { baseUrl, storedSettings } from '../shared-settings.ts'

export const arkSettings = z.strictObject({
  /** Including the version path. */
  base_url: baseUrl().default('https://ark.cn-beijing.volces.com/api/v3'),
  api_key: z.string().min(1),
  /** True to let the vendor notify a callback URL of the gateway, in addition to polling. */
  callbacks: z.boolean().default(true),
  ...storedSettings,
})

export type ArkSettings = z.infer<typeof arkSettings>

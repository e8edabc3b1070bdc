/** A channel's settings at the vendor's media tools. */
import { z } from 'zod'
import { baseUrl } from '../shared-settings.ts'

export const mediakitSettings = z.strictObject({
  /** The address without a version path; the adapter appends it. */
  base_url: baseUrl().default('https://mediakit.cn-beijing.volces.com'),
  api_key: z.string().min(1),
  /** True to let the vendor notify a callback URL of the gateway, in addition to polling. */
  callbacks: z.boolean().default(true),
})

export type MediakitSettings = z.infer<typeof mediakitSettings>

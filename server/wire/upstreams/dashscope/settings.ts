/** A channel's settings at the vendor's model platform. */
import { z } from 'zod'
import { hostUrl } from '../shared-settings.ts'

export const dashscopeSettings = z.strictObject({
  /** The host of the key's region or workspace, without a path. */
  base_url: hostUrl().default('https://dashscope.aliyuncs.com'),
  api_key: z.string().min(1),
})

export type DashscopeSettings = z.infer<typeof dashscopeSettings>

/** A channel's settings at an upstream that speaks OpenAI's API, under whatever name. */
import { z } from 'zod'

export const openaiCompatibleSettings = z.strictObject({
  /** Including the version path, for example https://api.openai.com/v1. */
  base_url: z.url({ protocol: /^https?$/ }),
  api_key: z.string().min(1),
  organization: z.string().optional(),
  project: z.string().optional(),
  /** Further headers that the vendor wants on every request. */
  headers: z.record(z.string(), z.string()).default({}),
  /** True when the vendor bills nothing more once its connection is closed. */
  stops_on_cancel: z.boolean().default(false),
})

export type OpenaiCompatibleSettings = z.infer<typeof openaiCompatibleSettings>

/** The setting `base_url` of channels. */
import { z } from 'zod'
import { hasCredentials } from '../../base/lib/text/base-url.ts'

/** It is shown and logged, so it may hold no credentials. */
export const baseUrl = (protocol = /^https?$/) =>
  z.url({ protocol }).refine((url) => !hasCredentials(url), {
    error: 'must not hold credentials: these settings are shown. Put them into the channel’s key',
  })

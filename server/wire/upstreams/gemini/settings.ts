/** A channel's settings for Gemini: at Google's own API by a key, or on Vertex AI by an account. */
import { z } from 'zod'
import { placeSettings, readPlaceUrl, refuseTokenUri, serviceAccount } from '../google-service.ts'
import { keySettings } from '../key-header.ts'
import { hostUrl, priceSettings } from '../shared-settings.ts'

export const geminiSettings = z
  .strictObject({
    /** Without the version path; by default Google's own address, or that of the location. */
    base_url: hostUrl().optional(),
    ...keySettings,
    /** The key file of a service account, as JSON or as its text: the models of Vertex AI. */
    service_account: serviceAccount.optional(),
    ...placeSettings,
    /** True if the vendor bills nothing more once its connection is closed. */
    stops_on_cancel: z.boolean().default(false),
    ...priceSettings,
    /** The most calls at once in each gateway; more go to another route. */
    max_concurrent_calls: z.int().positive().optional(),
  })
  .superRefine((settings, context) => {
    const { service_account: account, api_key: key, api_keys: keys, project } = settings
    const refuse = (path: string, message: string | undefined) =>
      message && context.addIssue({ code: 'custom', path: [path], message })
    if (!account) {
      if (key === undefined && keys === undefined && settings.base_url === undefined) {
        refuse('api_key', 'missing: set api_key, or service_account for Vertex AI')
      }
      return
    }
    if (key !== undefined || keys !== undefined) {
      refuse('api_key', 'cannot be combined with service_account')
    }
    if (project === undefined && account.project_id === undefined) {
      refuse('project', 'missing: the key file names no project_id')
    }
    refuse('service_account', refuseTokenUri(account, readGeminiUrl(settings)))
  })

export type GeminiSettings = z.infer<typeof geminiSettings>

const API_URL = 'https://generativelanguage.googleapis.com'

type Address = Pick<GeminiSettings, 'base_url' | 'location' | 'service_account'>

/** Returns the address of the channel, of its location, or of Google's own API. */
export function readGeminiUrl(settings: Address): string {
  return settings.service_account ? readPlaceUrl(settings) : (settings.base_url ?? API_URL)
}

/**
 * A channel's credentials at the speech services (docs/protocols/volcengine-speech.md#credentials).
 */
import { z } from 'zod'

/** Members of a channel's settings. */
export const speechCredentials = {
  /** The single key of the newer console, in place of the older pair below. */
  api_key: z.string().min(1).optional(),
  app_id: z.string().min(1).optional(),
  access_key: z.string().min(1).optional(),
}

/** The settings that are encrypted at rest. */
export const SPEECH_SECRETS = ['api_key', 'access_key']

interface Credentials {
  readonly api_key?: string | undefined
  readonly app_id?: string | undefined
  readonly access_key?: string | undefined
}

/** Returns true for exactly one style of credentials: the vendor rejects both together. */
export function haveOneStyle({
  api_key: key,
  app_id: id,
  access_key: access,
}: Credentials): boolean {
  return key ? !id : Boolean(id && access)
}

export const ONE_STYLE = { error: 'give api_key, or app_id with access_key' }

/** Returns the headers, the older style's id under both of its names. */
export function credentialHeaders({
  api_key: key,
  app_id: id = '',
  access_key: access = '',
}: Credentials): Record<string, string> {
  if (key) return { 'x-api-key': key }
  return { 'x-api-app-id': id, 'x-api-app-key': id, 'x-api-access-key': access }
}

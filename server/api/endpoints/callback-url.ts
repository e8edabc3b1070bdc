/** Addresses that get webhooks, such as the `callback_url` of endpoints that create tasks. */
import { z } from 'zod'

const CALLBACK_LENGTH_MAX = 2048

/** An address that gets webhooks; the guard checks its host afterwards. */
export const webhookUrl = z
  .url({ protocol: /^https?$/ })
  .max(CALLBACK_LENGTH_MAX)
  .refine((url) => !hasUser(url), { error: 'must not carry a user name or password' })

export const callbackUrl = webhookUrl
  .optional()
  .describe('Receives one POST when the task has succeeded or failed.')

function hasUser(url: string): boolean {
  const parsed = URL.parse(url)
  return parsed !== null && (parsed.username !== '' || parsed.password !== '')
}

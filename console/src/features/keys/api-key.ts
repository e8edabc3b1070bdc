/** A key as the API returns it, and its state. */
import type { Tone } from '../../components/state/status-badge.tsx'
import type { AdminAnswer } from '../../lib/api.ts'

export type ApiKey = AdminAnswer<'GET /accounts/:account_id/keys/:key_id'>

export const STATE_TONES: Readonly<Record<ApiKey['state'], Tone>> = {
  active: 'good',
  disabled: 'quiet',
  expired: 'warning',
}

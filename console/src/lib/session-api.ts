/** The session's own routes. */
import { sendRequest } from './api.ts'

export interface SessionAnswer {
  readonly user: {
    readonly id: string
    readonly email: string
    readonly name: string
    readonly language: string
    readonly operator: boolean
  }
  readonly memberships: readonly {
    readonly account_id: string
    readonly account_name: string
    readonly role: 'owner' | 'member'
  }[]
}

export async function fetchSession(signal?: AbortSignal): Promise<SessionAnswer> {
  return (await sendRequest('GET /session', {}, signal)) as SessionAnswer
}

export async function endSession(): Promise<void> {
  await sendRequest('DELETE /session', {})
}
